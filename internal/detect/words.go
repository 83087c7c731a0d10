package detect

import (
	"bytes"
	"strings"
)

// words looks at the runs of letters, digits, _ and - that the pass has marked: each
// may be a token by its prefix, a number, a long random word, the user of an email
// address, part of an IP address.
func (s *scanner) words() {
	text := s.text
	for _, mark := range s.marks {
		end := int(mark)
		start, kinds := end, uint8(0)
		for start > 0 && classOf[text[start-1]]&word != 0 {
			start--
			kinds |= classOf[text[start]]
		}
		if start < end {
			s.word(start, end, kinds)
		} else {
			s.sign(end)
		}
	}
}

// sign looks at an @ or : that no word stands before.
func (s *scanner) sign(i int) {
	switch {
	case s.text[i] == '@':
		if i > 0 && s.text[i-1] != ' ' {
			s.email(i)
		}
	case s.at(i+1) == ':' && !is(s.at(i-1), dot) && is(s.at(i+2), hexed):
		s.ipv6(i)
	}
}

func (s *scanner) word(start, end int, kinds uint8) {
	if s.startsToken(start) {
		s.prefixed(start)
	}
	if kinds&digit != 0 {
		s.digits(start, end, kinds)
	}
	if end-start == 17 && kinds&dash != 0 {
		s.mac(start)
	}
	switch s.at(end) {
	case '~':
		s.azure(start, end)
	case '@':
		s.email(end)
	case ':':
		s.telegram(start, end)
		if end-start <= 4 && start+1 < len(s.text) {
			s.colons(start, end)
		}
	case '.':
		s.dotted(start, end)
	}
	if kinds&digit != 0 && kinds&letter != 0 && end-start >= 9 && end-start <= 16 {
		s.identity(start, end)
	}
	if end-start >= 16 {
		s.long(start, end, kinds)
	}
}

// azure reads a client secret: three characters, a digit and Q~ before the rest.
func (s *scanner) azure(start, end int) {
	if end-start != 5 || s.text[end-1] != 'Q' {
		return
	}
	last := s.run(end, word|dot, 40)
	if last-end > 30 && !example(s.text[end:last]) {
		s.add(start, s.trimEnd(end, last), ruleAzure)
	}
}

// telegram reads a bot's token: its number, a colon, 35 characters.
func (s *scanner) telegram(start, end int) {
	if end-start < 8 || end-start > 10 || shapeOf(s.text[start:end]).digits != end-start {
		return
	}
	if last := s.run(end+1, word, 40); last-end == 36 && looksRandom(s.text[end+1:last]) {
		s.add(start, last, ruleTelegram)
	}
}

// mailchimp reads a key: 32 hexadecimal digits and a data centre.
func (s *scanner) mailchimp(start, end int) {
	if v := s.text[start:end]; len(v) > 35 && len(v) < 38 && v[32:35] == "-us" && shapeOf(v[:32]).hex == 32 {
		s.add(start, end, ruleMailchimp)
	}
}

// digits looks at each number that starts within a word.
func (s *scanner) digits(start, end int, kinds uint8) {
	if s.numbersTo >= end {
		return
	}
	for i := start; i < end; i++ {
		if !is(s.text[i], digit) || i > start && is(s.text[i-1], alnum) || i < s.numbersTo {
			continue
		}
		s.number(i)
		if i >= start+64 {
			return
		}
	}
	if kinds&upper != 0 && end-start >= 4 || kinds&lower != 0 {
		s.iban(start)
	}
	if end-start >= 26 && end-start <= 64 {
		s.wallet(start, end)
	}
}

// long looks at a word of sixteen bytes or more.
func (s *scanner) long(start, end int, kinds uint8) {
	if s.urlAt(start) {
		return
	}
	s.mailchimp(start, end)
	to := s.run(end, word|plus, 4096)
	from := start
	if is(s.at(from-1), plus) && s.at(from-1) != '=' {
		return // read with what stands before
	}
	v := s.text[from:to]
	if v[0] == '-' {
		return
	}
	if to-from >= 24 && s.depth == 0 {
		s.encoded(from, to)
	}
	if kinds&letter == 0 {
		return
	}
	if s.unknown(start, end) {
		if !s.hashContext(from, to) {
			s.add(start, end, ruleUnknown)
		}
		return
	}
	at := from
	v = strings.TrimRight(v, "=")
	if n := strings.IndexByte(v, '='); n > 0 {
		v = v[n+1:]
		at += n + 1
	}
	if len(v) >= 16 && s.nearFor(v, at) && s.bindsAt(at) && looksDrawn(v) && !isFiller(v) && !example(v) && (!looksHex(v) || len(v) >= 30) && !isPath(v) && !s.hashContext(from, to) {
		s.add(at, to, ruleNear)
	}
}

// nearFor reports whether what stands before i makes v suspect there. Ids, checksums
// and commits stand beside the names of services everywhere: they need the name of a
// credential, or to be what the name of a service is set to.
func (s *scanner) nearFor(v string, i int) bool {
	const reach = 48
	common := looksUUID(v) || (len(v) == 32 || len(v) == 40 || len(v) == 64) && looksHex(v)
	return (!common || !s.identifies(i)) && s.nearName(i, reach, !common || len(v) != 40 && s.isSet(i))
}

// identifies reports whether the value at i is set to a name that ends in id: uid,
// requestId. Names of credentials that do are read as settings.
func (s *scanner) identifies(i int) bool {
	for n := 0; n < 5 && i > 0 && !is(s.text[i-1], word); n++ {
		i--
	}
	name := strings.ToLower(s.text[s.back(i, word, 32):i])
	return strings.HasSuffix(name, "id") && !credentialNames.matches(name)
}

// credentialNames are parts of names of credentials.
var credentialNames = newAutomaton([]string{"key", "token", "secret", "client", "auth", "cred", "sess"})

// isSet reports whether a sign stands before the value at i that gives it to a name.
func (s *scanner) isSet(i int) bool {
	i--
	for n := 0; n < 3 && (isQuote(s.at(i)) || isSpace(s.at(i))); n++ {
		i--
	}
	return s.at(i) == '=' || s.at(i) == ':'
}

// bindsAt reports whether what stands before i may bind a value: a quote, = or :,
// or a blank.
func (s *scanner) bindsAt(i int) bool {
	c := s.at(i - 1)
	return isQuote(c) || c == '=' || c == ':' || c == ' ' || c == '\t' || c == '\n' || c == '>' || c == '(' || c == ',' || c == 0
}

// unknown reports whether text[start:end] is a token of a service nobody listed: small letters, _ or -, and
// twenty or more letters and digits drawn by chance.
func (s *scanner) unknown(start, end int) bool {
	body := end
	for body > start && is(s.text[body-1], alnum) {
		body--
	}
	head := s.text[start:body]
	n := end - body
	if len(head) < 3 || len(head) > 24 || n < 20 || n > 200 || !is(head[0], letter) {
		return false
	}
	for i := range len(head) {
		if is(head[i], upper) && head[i] != head[0] {
			return false
		}
	}
	v := s.text[body:end]
	sh := shapeOf(v)
	if example(v) || hashHeads[strings.ToLower(strings.TrimRight(head, "-_"))] || sh.hex == n && n < 32 || sh.digits < 2 || !sh.random(n) && !looksHex(v) || sh.hex == n && !tokenHead(head) {
		return false
	}
	return true
}

var hashHeads = words("sha sha1 sha256 sha384 sha512 md5 h1 go commit rev v v1 v2 v3 blob tree chunk index main app vendor ses msg evt req usr hdl acr rt wks dlv price prod cus sub ch in pi txn run call chatcmpl file thread asst resp toolu step conversation")

func tokenHead(head string) bool {
	l := strings.ToLower(head)
	for _, w := range [...]string{"key", "tok", "sec", "sk", "pat", "api", "live", "test", "v1", "auth", "_"} {
		if strings.Contains(l, w) {
			return true
		}
	}
	return false
}

// hashContext reports whether text[start:end] is a checksum, a commit or a
// package's integrity, as what stands before it tells.
func (s *scanner) hashContext(start, end int) bool {
	var buf [28]byte
	before := folded(buf[:0], s.text[max(0, start-28):start])
	for _, w := range [...]string{"sha1", "sha256", "sha384", "sha512", "sha-", "h1:", "integrity", "commit", "checksum", "md5", "etag", "digest", "/blob/", "/tree/", "revision", "rev:", "resolved", "base64,", "fingerprint", "blake", "uuid", "guid", "trace", "hash:", "hash\":", "node_modules", "ssh-rsa ", "ssh-ed25519 ", "publickey", "public_key", "public key", "pubkey"} {
		if bytes.Contains(before, []byte(w)) {
			return true
		}
	}
	return s.at(start-1) == '@' || s.at(start-1) == '#' || strings.HasPrefix(s.text[start:end], "sha")
}

func folded(b []byte, s string) []byte {
	for i := range len(s) {
		b = append(b, fold(s[i]))
	}
	return b
}

// urlAt reports whether i lies within an address that was read.
func (s *scanner) urlAt(i int) bool {
	low, high := 0, len(s.urls)
	for low < high {
		mid := (low + high) / 2
		if s.urls[mid].end <= i {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low < len(s.urls) && s.urls[low].start <= i
}

// dotted adds a token of three parts with dots, as some chats make them.
func (s *scanner) dotted(start, end int) {
	n := end - start
	if n == 4 {
		s.ciscoMAC(start)
	}
	if n < 22 || n > 30 || s.urlAt(start) {
		return
	}
	mid := s.run(end+1, word, 8)
	if mid-end != 7 || s.at(mid) != '.' {
		return
	}
	last := s.run(mid+1, word, 60)
	if last-mid > 26 && last-mid < 42 && looksRandom(s.text[mid+1:last]) {
		s.add(start, last, ruleDiscord)
	}
}
