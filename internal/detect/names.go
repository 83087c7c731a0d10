package detect

import "strings"

// A strength is how much the name of a setting says of its value.
type strength uint8

const (
	silent strength = iota // nothing
	weak                   // key, auth, id: the value must look drawn by chance
	strong                 // token, secret, api_key: the value must not be a word
	sure                   // password: any value that is no example
)

type meaning struct {
	strength strength
	rule     *Rule
}

// endings tells what a setting holds by what its name ends with, written small and
// without separators. The longest ending that fits counts.
var endings = map[string]ending{}

// An ending says what names mean that end so, and what those do that are nothing
// else: alone, a name may say more.
type ending struct{ within, alone meaning }

func init() {
	for _, row := range []struct {
		strength strength
		rule     *Rule
		words    string
	}{
		{sure, rulePassword, `password passwd passwort passphrase passcode pwd psw pswd passwrd psswd userpass dbpass
			mysqlpass rootpass adminpass smtppass mailpass sshpass pgpass sudopass secretpass ftppass keypass storepass
			loginpass passe ldappass authpass proxypass kennwort senha contrasena contraseña motdepasse wachtwoord haslo hasło
			parola lozinka heslo sifre şifre lösenord losenord adgangskode salasana jelszó jelszo пароль 密码 密碼 口令
			パスワード 비밀번호 secretpassword dbpw userpw adminpw rootpw requirepass masterauth passplain psk presharedkey
			wpapsk bindpw apipass apipassword rootpwd mdp senhas clave pinpad unlockcode`},
		{strong, ruleSecret, `secret secrets secretkey clientsecret sharedsecret appsecret consumersecret apisecret
			jwtsecret webhooksecret secretkeybase secretaccesskey cookiesecret sessionsecret signingsecret hmacsecret
			totpsecret otpsecret secretvalue secrettoken geheimnis segreto secreto masterkey encryptionsecret appkeysecret clientkeysecret accesssecret tokensecret keysecret kubeadmcertificatekey`},
		{strong, ruleToken, `token accesstoken authtoken refreshtoken apitoken bearertoken sessiontoken idtoken csrftoken
			usertoken bottoken personalaccesstoken accesstokensecret oauthtoken authenticitytoken pat jwt bearer
			registrationtoken deploytoken devicetoken pushtoken xsrf csrf crumb authorizationtoken accesscode resettoken
			authenticationtoken securitytoken logintoken servicetoken identitytoken xauthtoken`},
		{strong, ruleKey, `apikey accesskey authkey secretaccess privatekey encryptionkey signingkey storagekey accountkey
			sharedkey servicekey appkey licensekey licencekey hmackey deploykey sharedaccesskey subscriptionkey
			accesskeyid apikeyid masterkey cryptokey aeskey deskey cipherkey decryptionkey functionkey functionskey
			hostkey primarykeybase securekey authenticationkey projectkey serverkey writekey readkey adminkey
			applicationkey integrationkey ingestkey ingestionkey rsakey signkey sasl sharedaccesssignature
			consumerkey publishablekey nkey xkey nkeyseed instrumentationkey partnerkey merchantkey tenantkey userkey
			accesskeysecret clientkey keyvalue tokenkey enckey encryptkey privkey sessionkey`},
		{strong, ruleCredential, `credential credentials creds cred connectionstring connstring authorization authsecret
			authcode verifier oauthverifier sig signature sessionid sessid phpsessid jsessionid sid cookie
			authcookie setcookie otp totp mfa onetimecode recoverycode backupcode verificationcode seed accesscredential`},
		{weak, ruleKey, `key pubkey publickey clientid appid accountid accesskeyname applicationid`},
		{weak, ruleCredential, `auth oauth pass pw login secretid roleid session nonce salt passwordhash iv
			code pin webhook webhookurl dsn license licence certificate userid tokenid authentication oauthnonce oauthsignature
			challenge subscriptionid tenantid developerkey usertokenhash authdata authstring accesscodes apiid`},
		{sure, ruleSeed, `mnemonic seedphrase recoveryphrase mnemonicphrase walletmnemonic`},
	} {
		for w := range strings.FieldsSeq(row.words) {
			m := meaning{row.strength, row.rule}
			endings[w] = ending{m, m}
		}
	}
	// Alone, these names say more than at the end of another.
	for w, m := range map[string]meaning{
		"pass": {sure, rulePassword}, "pw": {sure, rulePassword}, "passwords": {sure, rulePassword}, "userpassword": {sure, rulePassword},
		"auth": {strong, ruleCredential}, "tokens": {strong, ruleToken}, "keys": {weak, ruleKey}, "apikeys": {strong, ruleKey},
	} {
		endings[w] = ending{endings[w].within, m}
	}
}

// noise is what a name may end with and still mean what stands before.
var noise = words(`value val string str text plain plaintext raw data default prod production dev development test testing
	staging live sandbox old new current legacy primary secondary backup main here env header param arg field1 base64 b64
	encrypted hex bytes b c s a confirmation confirm again repeat verify2 read write rw ro admin user id2 v1 v2 v3 eu us global temp tmp
	encoded content literal constant const variable`)

// harmless is what a name ends with that is about a credential and holds none.
var harmless = words(`type types name names url uri path file filename dir directory length len size count number num expiry expires
	expiration expired ttl lifetime age date time timestamp field fields label labels input policy policies rule rules min max
	limit prompt hint placeholder regex pattern format provider providers service store storage manager handler helper utils
	util factory builder class model form page view reset forgot change update strength score required enabled disabled
	valid invalid validator validation is has use error err errors message msg title description desc text2 link endpoint host
	port server ref reference arn alias version algorithm alg method mode scheme kind usage scope scopes issuer audience
	prefix suffix separator delimiter index idx position column table row attribute attr property prop properties map list
	array set iterator binding mapping code2 press down up event word words board frame note stone pair space ring
	generator parser reader writer loader source target callback func function fn cb icon button btn tooltip style color
	width height checkbox radio select option options config settings request response result status state2 id ids
	encoder decoder hasher encryption interceptor filter middleware guard exception owner group role roles user2 username
	hosts location region zone bucket prefixes suffixes verified present missing exists changed match matches mismatch
	placeholder2 example examples sample samples docs doc documentation help info details meta metadata annotation`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// nameMeans tells what a setting of that name holds.
func nameMeans(name string) meaning {
	if len(name) > 80 {
		name = name[len(name)-80:]
	}
	var p parts
	p.split(name)
	n := p.n
	for n > 1 && noise[string(p.part(n-1))] {
		n--
	}
	if n == 0 || n > 1 && harmless[string(p.part(n-1))] && !p.idOfKey(n) {
		return meaning{}
	}
	if p.isLookup(n) {
		return meaning{}
	}
	for i := range n {
		if w := string(p.part(i)); w == "public" || w == "nopasswd" {
			return meaning{}
		}
	}
	return p.meaning(n)
}

// lookups are words before key that make it one of data, by which something is found.
var lookups = words("cache primary foreign partition sort row group routing idempotency object record map dict lookup hash order candidate composite unique natural surrogate index column field state query redis")

func (p *parts) isLookup(n int) bool {
	return n > 1 && string(p.part(n-1)) == "key" && lookups[string(p.part(n-2))]
}

// keyed are words whose id is half of a credential.
var keyed = words("key client app session secret role account application access")

// idOfKey reports whether the name ends in access key id: that half of a
// credential is one itself.
func (p *parts) idOfKey(n int) bool {
	return string(p.part(n-1)) == "id" && keyed[string(p.part(n-2))]
}

// meaning looks for the longest ending, in whole parts.
func (p *parts) meaning(n int) meaning {
	var joined [96]byte
	for from := max(0, n-4); from < n; from++ {
		b := joined[:0]
		for i := from; i < n; i++ {
			b = append(b, p.part(i)...)
		}
		if e, ok := endings[string(b)]; ok {
			if n-from <= 2 && (from == 0 || string(b) != "auth") {
				return e.alone
			}
			if e.within.strength != silent {
				return e.within
			}
		}
		if m := glued(b); m.strength != silent {
			return m
		}
	}
	return meaning{}
}

// glued finds an ending within one part that was written without separators, such
// as mypassword or authToken written authtoken.
func glued(b []byte) meaning {
	for _, e := range [...]string{"password", "passwd", "passwort", "passphrase", "secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "authkey", "pwd"} {
		if n := len(b) - len(e); n > 0 && string(b[n:]) == e {
			return endings[e].within
		}
	}
	return meaning{}
}

// parts are those of a name, written small.
type parts struct {
	text [96]byte
	at   [12][2]uint8
	n    int
}

func (p *parts) part(i int) []byte { return p.text[p.at[i][0]:p.at[i][1]] }

// split cuts a name into its parts: at what is neither letter nor digit, and where a
// capital follows a small letter or starts a word. Digits at the end of a part are
// left out.
func (p *parts) split(name string) {
	start, end := 0, 0
	for i := range len(name) {
		c := name[i]
		switch {
		case c < 0x80 && !is(c, alnum):
			p.cut(start, end)
			start = end
			continue
		case is(c, upper) && i > 0 && (is(name[i-1], lower|digit) || i+1 < len(name) && is(name[i+1], lower) && is(name[i-1], upper)):
			p.cut(start, end)
			start = end
		}
		p.text[end] = fold(c)
		end++
	}
	p.cut(start, end)
}

func (p *parts) cut(start, end int) {
	for end > start && is(p.text[end-1], digit) {
		end--
	}
	if end == start {
		return
	}
	if p.n == len(p.at) { // the last parts tell most
		copy(p.at[:], p.at[1:])
		p.n--
	}
	p.at[p.n] = [2]uint8{uint8(start), uint8(end)}
	p.n++
}
