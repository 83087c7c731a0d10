package detect

import (
	"net/url"
	"strings"
)

// address reads the address whose :// stands at i. An address that does not parse
// is read all the same: a broken one holds its token as well.
func (s *scanner) address(i int) {
	start := s.back(i, alnum|plus|dot|dash, 24)
	if start == i || len(s.urls) > 0 && s.urls[len(s.urls)-1].end > i {
		return
	}
	end := s.addressEnd(i + 3)
	s.urls = append(s.urls, extent{start, end})
	s.parts(i+3, end, s.text[start:i])
}

func (s *scanner) addressEnd(i int) int {
	start := i
	for i < len(s.text) && i-start < 8<<10 && !addressStops[s.text[i]] {
		i++
	}
	if s.kind != URL {
		for i > start && strings.IndexByte(".,;:!?)]*", s.text[i-1]) >= 0 {
			i--
		}
	}
	return i
}

// addressStops are the bytes that end an address in a text.
var addressStops = func() (t [256]bool) {
	for c := range 256 {
		t[c] = c <= ' ' || strings.IndexByte("\"'`<>\\{}|^", byte(c)) >= 0
	}
	return t
}()

// wholeAddress reads a text that is an address where :// did not tell so: one
// without a scheme, or of a scheme such as mailto.
func (s *scanner) wholeAddress() {
	if len(s.urls) == 0 {
		s.parts(0, len(s.text), "")
	}
}

// parts reads the authority, path, query and fragment of text[i:end].
func (s *scanner) parts(i, end int, scheme string) {
	rest := s.text[i:end]
	authority := indexAny(rest, "/?#")
	s.userinfo(i, i+authority, scheme)
	hash := strings.IndexByte(rest, '#')
	if hash >= 0 {
		s.fragment(i+hash+1, end)
		end = i + hash
	}
	if q := strings.IndexByte(s.text[i:end], '?'); q >= 0 {
		s.query(i+q+1, end, ruleQuery)
		end = i + q
	}
	if i+authority < end {
		s.path(i+authority, end, s.text[i:i+authority])
	}
}

func (s *scanner) userinfo(i, end int, scheme string) {
	// A password may hold what ends an authority: look for the @ on to the next blank.
	at := strings.LastIndexByte(s.text[i:end], '@')
	if at < 0 && scheme != "http" && scheme != "https" && scheme != "" {
		limit := s.addressEnd(i)
		if n := strings.LastIndexByte(s.text[i:limit], '@'); n >= 0 && strings.IndexByte(s.text[i:i+n], ':') > 0 {
			at = n
		}
	}
	if at <= 0 {
		return
	}
	user, password, ok := strings.Cut(s.text[i:i+at], ":")
	switch {
	case ok && len(password) > 0 && !isTemplate(password) && !isTemplateWord(password):
		s.add(i+len(user)+1, i+at, ruleUserinfo)
		if looksDrawn(user) {
			s.add(i, i+len(user), ruleUserinfo)
		}
	case looksDrawn(user) || strings.HasPrefix(user, "gh") && len(user) > 30:
		s.add(i, i+len(user), ruleUserinfo)
	}
}

var commonUserinfo = words("x-oauth-basic xxx **** *** ... <password> xxxx xxxxx")

func isTemplateWord(v string) bool { return len(v) < 20 && commonUserinfo[strings.ToLower(v)] }

// isTemplate reports whether v is to be filled in: ${NAME}, {{ name }}, <name>, ***.
func isTemplate(v string) bool {
	if IsPlaceholder(v) || closes(v) && strings.IndexByte("<{[*", v[0]) >= 0 || len(v) > 2 && !varied2(v) {
		return true
	}
	if strings.IndexByte(v, '{') < 0 && strings.IndexByte(v, '(') < 0 && strings.IndexByte(v, '%') < 0 {
		return v[0] == '$' && len(v) > 1 && isIdentifier(v[1:]) || v[0] == ':' && isIdentifier(v[1:])
	}
	for _, t := range [...][2]string{{"${", "}"}, {"{{", "}}"}, {"$(", ")"}, {"<%", "%>"}, {"#{", "}"}} {
		if _, rest, ok := strings.Cut(v, t[0]); ok {
			if name, _, ok := strings.Cut(rest, t[1]); ok && !strings.ContainsAny(name, "()[]{}<>#") {
				return true
			}
		}
	}
	return strings.HasPrefix(v, "%s") || v[0] == '$' && len(v) > 1 && isIdentifier(v[1:]) || v[0] == ':' && isIdentifier(v[1:])
}

// query reads the parameters of text[i:end].
func (s *scanner) query(i, end int, r *Rule) {
	for n := 0; i < end && n < 400; n++ {
		stop := i + indexAny(s.text[i:end], "&;")
		if name, _, ok := strings.Cut(s.text[i:stop], "="); ok {
			s.parameter(name, i+len(name)+1, stop, r)
		}
		i = stop + 1
		for _, p := range [...]string{"amp;", "#38;"} {
			if i < end && strings.HasPrefix(s.text[i:end], p) {
				i += len(p)
			}
		}
	}
}

// A param says what a parameter of that name holds.
type param uint8

const (
	sensitive param = 1 + iota // a credential, whatever its value looks like
	suspect                    // one when it looks drawn by chance
	typed                      // a secret that people type
)

var params = func() map[string]param {
	m := map[string]param{}
	for w := range strings.FieldsSeq(suspectParams) {
		m[w] = suspect
	}
	for w := range strings.FieldsSeq(sensitiveParams) {
		m[w] = sensitive
	}
	for w := range strings.FieldsSeq("password passwd pwd pass pin passcode otp zak") {
		m[w] = typed
	}
	return m
}()

const (
	sensitiveParams = `access_token accesstoken token id_token refresh_token auth_token authtoken api_key apikey api-key key_secret
		client_secret secret password passwd pwd pass sig signature x-amz-signature x-amz-credential x-amz-security-token
		x-goog-signature x-goog-credential awsaccesskeyid googleaccessid sas sharedaccesssignature samlresponse samlrequest
		jwt session sessionid session_id sid jsessionid phpsessid aspsessionid resourcekey invite_token reset_token
		confirmation_token verification_token magic ticket hmac otp oauth_token oauth_token_secret oauth_verifier
		oauth_signature code_verifier client_assertion assertion authkey auth_key access_key accesskey private_token
		job_token personal_access_token x-api-key appkey app_key subscription-key ocp-apim-subscription-key code_challenge
		authenticity_token csrf csrf_token xsrf _csrf nonce passcode pin invite invitation unsubscribe_token passkey zak tk
		policy key-pair-id hdnea hdnts __token__ rlkey authuser_token bearer webhook_token hash_key securitytoken
		security_token one_time_token onetimetoken login_token logintoken temp_token sso_token state_token x-amz-token
		device_token user_code device_code crumb hapikey appid_secret loginticket auth credential credentials upn_token`
	suspectParams = `code state key t e h k s u p c x i v2 hash id_hint auth id rid ref cid uid tid eid guid share link hint data d
		payload request response relaystate context ctx verify confirm confirmation activation activate reset invite magic
		access api appid app_id client_id clientid license email_hash digest mac r q_token a ck sk ak si sv et lt fbclid_token
		validation verification challenge login_challenge consent_challenge login_hint_token cursor_token b m n o w y z pt
		document file user usertoken sharekey share_key viewkey view_key meeting conf wreply wctx session_state sessionkey
		session_key access_code accesscode entry l j g f recipient token2 tok tkn utoken atoken userhash uhash unsub subscriber`
)

func (s *scanner) parameter(name string, start, end int, r *Rule) {
	v := s.text[start:end]
	if v == "" || isTemplate(v) || v[0] == '[' {
		return
	}
	name = strings.ToLower(unescape(name))
	plain, kind := unescape(v), params[name]
	switch {
	case strings.Contains(plain, "@") && len(plain) < 256 && s.addressee(plain, start, end, v):
	case kind == sensitive || kind == typed:
		if !paramWord(plain) && (len(plain) >= 8 || kind == typed) && !repeats(plain) {
			s.add(start, end, r)
		}
	case kind == suspect && !harmlessParam(name, plain):
		if looksDrawn(core(plain)) && len(plain) >= 12 || looksRandomShort(plain) {
			s.add(start, end, r)
		}
	case strings.Contains(plain, "://") || strings.Contains(plain, "?") && strings.Contains(plain, "="):
		s.nested(plain, v, start, end)
	default:
		if m := nameMeans(name); m.strength >= strong && credible(plain, m, context{quoted: true}) || m.strength == weak && looksRandom(core(plain)) {
			s.add(start, end, r)
		}
	}
}

func paramWord(v string) bool {
	return len(v) < 4 || isCommon(v) || v[0] == '$' || v[0] == ':' || isIdentifier(v) && shapeOf(v).digits == 0 && len(v) < 7 && isCommon(v)
}

// harmlessParam knows values that only look drawn by chance.
func harmlessParam(name, v string) bool {
	if len(v) >= 10 && v[4] == '-' && v[7] == '-' && is(v[0], digit) {
		return true // a date
	}
	return looksUUID(v) && name != "code" && name != "state" && name != "key" || (len(v) == 40 || len(v) == 64 || len(v) == 32) && looksHex(v) && name != "code" && name != "state" && name != "key" && name != "hash"
}

func looksRandomShort(v string) bool {
	sh := shapeOf(v)
	return len(v) >= 8 && len(v) < 12 && sh.digits > 0 && sh.upper > 0 && sh.lower > 0 && sh.changes >= 4
}

// addressee adds an email address that stands as a parameter.
func (s *scanner) addressee(plain string, start, end int, raw string) bool {
	a, b, ok := emailIn(plain)
	if !ok {
		return false
	}
	if a == 0 && b == len(plain) {
		s.add(start, end, ruleEmail)
		return true
	}
	if from, to, ok := within(raw, plain[a:b]); ok {
		s.add(start+from, start+to, ruleEmail)
		return true
	}
	return false
}

// within finds where a percent-encoded text holds a decoded one.
func within(raw, plain string) (int, int, bool) {
	v := viewPercent(raw)
	if i := strings.Index(v.text, plain); i >= 0 {
		a, b := v.outer(i, i+len(plain))
		return a, b, true
	}
	return 0, 0, false
}

// nested reads an address within an address.
func (s *scanner) nested(plain, raw string, start, end int) {
	if s.depth > 1 {
		return
	}
	v := view{text: plain}
	if plain != raw {
		v = viewPercent(raw)
	}
	for _, f := range s.inner(v.text, URL) {
		a, b := v.outer(f.Start, f.End)
		s.add(start+a, min(end, start+b), f.Rule)
	}
}

func unescape(v string) string {
	if strings.IndexByte(v, '%') < 0 && strings.IndexByte(v, '+') < 0 {
		return v
	}
	if u, err := url.PathUnescape(v); err == nil {
		return u
	}
	return v
}

// fragment reads what follows #: parameters as some logins put there, a text
// fragment, a route with a query.
func (s *scanner) fragment(i, end int) {
	f := s.text[i:end]
	if q := strings.IndexByte(f, '?'); q >= 0 {
		s.query(i+q+1, end, ruleFragment)
		return
	}
	if strings.Contains(f, "=") {
		s.query(i, end, ruleFragment)
		return
	}
	if len(f) >= 20 && looksRandom(f) && !strings.ContainsAny(f, "-_") && !isSHA(f) {
		s.add(i, end, ruleFragment)
	}
}

// capabilities are parts of a path after which a random part gives access.
var capabilities = words(`reset verify verification invite invites invitation magic share shared hooks services s confirm confirmation
	activate activation unsubscribe token tokens password password-reset reset-password auth login signin sso join
	download accept webhook webhooks session l e u g w redeem claim access magic-link magiclink callback private secret
	link links t r p f i sharing preview signup register onboarding recover recovery account email-confirmation guest public
	pay checkout receipt view v invoice unsub optout preferences incoming catch hook key apikey api_key api-key validate set-password sh`)

func (s *scanner) path(i, end int, host string) {
	hooks := isWebhookHost(host)
	matrix := strings.IndexByte(s.text[i:end], '=') >= 0
	previous := ""
	for i < end {
		i++
		stop := i + indexAny(s.text[i:end], "/")
		part := s.text[i:stop]
		if matrix {
			s.matrix(i, stop, part)
		}
		s.segment(i, stop, part, previous, hooks)
		previous = part
		i = stop
	}
}

// matrix reads what stands behind a = in a part of a path.
func (s *scanner) matrix(i, stop int, part string) {
	if at := strings.Index(strings.ToLower(part), ";jsessionid="); at >= 0 {
		s.add(i+at+len(";jsessionid="), stop, ruleSession)
	} else if at := strings.IndexByte(part, '='); at > 0 && holdsSecret(part[:at]) && len(part) > at+1 {
		s.add(i+at+1, stop, ruleQuery)
	}
}

func holdsSecret(name string) bool {
	kind := params[strings.ToLower(name)]
	return kind == sensitive || kind == typed
}

func (s *scanner) segment(i, stop int, part, previous string, hooks bool) {
	switch {
	case len(part) < 8 || isTemplate(part):
	case strings.HasPrefix(part, "bot") && strings.Contains(part, ":"):
		s.add(i+3, stop, ruleWebhook)
	case hooks && len(part) >= 16 && looksDrawn(core(part)):
		s.add(i, stop, ruleWebhook)
	case len(part) >= 16 && opens(previous) && !looksUUID(part) && !isSHA(part) && drawnPart(part):
		s.add(i, stop, rulePath)
	case strings.Contains(part, "%40") || strings.Contains(part, "@"):
		if a, b, ok := emailIn(unescape(part)); ok {
			if from, to, ok := within(part, unescape(part)[a:b]); ok {
				s.add(i+from, i+to, ruleEmail)
			}
		}
	}
}

// opens reports whether a part of a path, or a word of it, says that what follows
// gives access.
func opens(part string) bool {
	part = strings.ToLower(part)
	if capabilities[part] {
		return true
	}
	for w := range strings.FieldsFuncSeq(part, func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		if len(w) > 3 && capabilities[w] {
			return true
		}
	}
	return false
}

func drawnPart(v string) bool {
	return looksRandom(core(v)) && !dashed(v) || looksRandom(strings.NewReplacer("-", "", "_", "").Replace(v)) && shapeOf(v).changes*3 >= len(v)
}

func isSHA(v string) bool { return (len(v) == 40 || len(v) == 64) && looksHex(v) }

func isWebhookHost(host string) bool { return webhookHosts.matches(host) }

// webhookHosts are parts of the names of hosts that take webhooks.
var webhookHosts = newAutomaton(strings.Fields(`hooks. webhook discord.com discordapp.com outlook.office logic.azure hook. chat.googleapis
	events.pagerduty api.telegram maker.ifttt hc-ping sentry.io healthchecks`))
