package detect

import (
	"strings"
	"sync"
)

// A look is what is done where a keyword stands.
type look uint8

const (
	lookName    look = iota // a setting may follow
	lookContext             // nothing; but a random value near it is suspect
	lookLabel               // a number of that kind may follow
	lookAddress             // ://
	lookPEM
	lookJWT
	lookBasic
	lookBearer
	lookFlag
	lookHash
	lookCommand // nothing; but a flag after it may be of a password
)

type keyword struct {
	text string
	look look
	arg  uint16
	// loose says that the automaton hits more than the keyword.
	loose bool
}

// nameWords are the parts of names that make a name worth reading.
const nameWords = `pass password pwd psw passwd secret token key auth credential cred sig cookie session sessid nonce salt otp totp pin code mnemonic
	seed license licence webhook login clientid client_id client-id appid app_id account dsn connectionstring jwt sid crumb csrf
	verifier bearer kennwort senha contrase motdepasse wachtwoord haslo hasło parola lozinka heslo sifre şifre lösenord losenord
	adgangskode salasana jelsz пароль 密码 密碼 口令 パスワード 비밀번호 clave psk bindpw rootpw dbpw userpw mdp pw pat iv
	roleid role_id apiid oauth tenant sasl phrase`

// pairs of letters that start a comment of HTTP or a command.
var structural = []keyword{
	{text: "://", look: lookAddress},
	{text: "-----begin", look: lookPEM},
	{text: "eyj", look: lookJWT},
	{text: "basic ", look: lookBasic},
	{text: "bearer ", look: lookBearer},
	{text: "token ", look: lookBearer},
	{text: " -u ", look: lookFlag},
	{text: " --user ", look: lookFlag},
	{text: " -p ", look: lookFlag, arg: 1},
	{text: " -pass ", look: lookFlag, arg: 1},
	{text: " -a ", look: lookFlag, arg: 1},
	{text: " -p", look: lookFlag, arg: 7},
	{text: "net user ", look: lookFlag, arg: 8},
	{text: "login ", look: lookFlag, arg: 2},
	{text: "identified by ", look: lookFlag, arg: 3},
	{text: "sshpass ", look: lookFlag, arg: 4},
	{text: " --user=", look: lookFlag},
	{text: " -w ", look: lookFlag, arg: 1},
	{text: "/p:", look: lookFlag, arg: 1},
	{text: "/user:", look: lookFlag, arg: 5},
	{text: "asplaintext", look: lookFlag, arg: 6},
	{text: "securestring", look: lookFlag, arg: 6},
	{text: " -u\"", look: lookFlag},
	{text: " -u'", look: lookFlag},
	{text: "$2a$", look: lookHash},
	{text: "$2b$", look: lookHash},
	{text: "$2y$", look: lookHash},
	{text: "$1$", look: lookHash},
	{text: "$5$", look: lookHash},
	{text: "$6$", look: lookHash},
	{text: "$y$", look: lookHash},
	{text: "$argon2", look: lookHash},
	{text: "pbkdf2", look: lookHash},
	{text: "$krb5", look: lookHash},
	{text: "$apr1$", look: lookHash},
	{text: "{ssha", look: lookHash},
	{text: "$scrypt$", look: lookHash},
	{text: "$p$", look: lookHash},
	{text: "$7$", look: lookHash},
	{text: "$8$", look: lookHash},
	{text: "$9$", look: lookHash},
	{text: "$sha1$", look: lookHash},
}

var keywords = func() []keyword {
	list := append([]keyword(nil), structural...)
	for w := range strings.FieldsSeq(nameWords) {
		list = append(list, keyword{text: w, look: lookName})
	}
	for w := range strings.FieldsSeq(serviceNames) {
		list = append(list, keyword{text: w, look: lookContext})
	}
	for w := range strings.FieldsSeq(passwordCommands) {
		list = append(list, keyword{text: w, look: lookCommand})
	}
	for i, l := range labelTable {
		for w := range strings.SplitSeq(l.words, ";") {
			list = append(list, keyword{text: w, look: lookLabel, arg: uint16(i)})
		}
	}
	return list
}()

// machine finds the keywords. It is built for the first text: most commands read none.
var machine = sync.OnceValue(func() *automaton {
	texts := make([]string, len(keywords))
	for i, k := range keywords {
		texts[i] = k.text
		keywords[i].loose = strings.ContainsFunc(k.text, func(r rune) bool { return r >= 0x80 || r >= '0' && r <= '9' })
	}
	return newAutomaton(texts)
})

// Keywords appends nothing and looks at nothing: it is the bare pass, for
// benchmarks to compare with. It returns how many keywords there are in text.
func Keywords(text string) int {
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	s.hits = machine().find(s.hits[:0], text)
	return len(s.hits)
}

// keywords looks at each place where the pass has found one.
func (s *scanner) keywords() {
	for i := range s.hits {
		k := &keywords[s.hits[i].word]
		end := int(s.hits[i].end)
		if k.loose && !strings.EqualFold(s.text[end-len(k.text):end], k.text) {
			continue
		}
		switch start := end - len(k.text); k.look {
		case lookName:
			s.assignment(start, end)
		case lookLabel:
			s.labelled(start, end, &labelTable[k.arg])
		case lookAddress:
			s.address(start)
		case lookPEM:
			s.pem(start)
		case lookJWT:
			s.jwt(start)
		case lookBasic:
			s.basic(end)
		case lookBearer:
			s.bearer(start, end)
		case lookFlag:
			s.flag(start, end, k.arg)
		case lookHash:
			s.hash(start)
		}
	}
}

// hitsTo returns how many hits end at i or before.
func (s *scanner) hitsTo(i int) int {
	low, high := 0, len(s.hits)
	for low < high {
		mid := (low + high) / 2
		if int(s.hits[mid].end) <= i {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// near reports whether the name of a credential or a service stands within reach
// before i, in the hits that the pass left.
func (s *scanner) near(i, reach int) bool { return s.nearName(i, reach, true) }

// nearName is [scanner.near], with names of services or without.
func (s *scanner) nearName(i, reach int, services bool) bool {
	for n := s.hitsTo(i) - 1; n >= 0 && int(s.hits[n].end) >= i-reach; n-- {
		k := &keywords[s.hits[n].word]
		end := int(s.hits[n].end)
		whole := !is(s.at(end), lower) || s.at(end) == 's' && !is(s.at(end+1), lower)
		if services && k.look == lookContext || k.look == lookName && telling[k.text] && whole {
			return s.wordStarts(end-len(k.text)) && (k.text != "key" || !s.isLookup(end))
		}
	}
	return false
}

// isLookup reports whether the name that ends at i is of a key of data.
func (s *scanner) isLookup(i int) bool {
	var p parts
	p.split(s.text[s.back(i, word, 64):i])
	return p.isLookup(p.n)
}

// wordStarts reports whether a word starts at i, also within a camel-cased name.
func (s *scanner) wordStarts(i int) bool {
	return !is(s.at(i-1), letter) || is(s.at(i), upper) && is(s.at(i-1), lower)
}

var telling = words("pass password pwd secret token key auth credential cred apikey webhook client_id clientid")
