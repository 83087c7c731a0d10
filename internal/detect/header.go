package detect

import (
	"encoding/base64"
	"strings"
)

// basic reads the credentials of HTTP Basic authentication: base64 of user:password.
func (s *scanner) basic(i int) {
	end := s.run(i, alnum|plus|under|dash, longest)
	if end-i < 6 {
		return
	}
	if raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s.text[i:end], "=")); err == nil && strings.Contains(string(raw), ":") && printable(raw) {
		s.add(i, end, ruleBasic)
		return
	}
	if v := s.text[i:end]; len(v) >= 12 && looksRandom(core(v)) && strings.Contains(strings.ToLower(s.text[max(0, i-40):i]), "auth") {
		s.add(i, end, ruleBasic)
	}
}

func printable(b []byte) bool {
	odd := 0
	for _, c := range b {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
		if c >= 0x80 {
			odd++
		}
	}
	return odd*4 <= len(b)
}

// bearer reads the token of HTTP Bearer authentication; after the word token only
// where Authorization stands before it.
func (s *scanner) bearer(start, i int) {
	end := s.trimEnd(i, s.run(i, word|plus|dot, longest))
	v := s.text[i:end]
	header := strings.Contains(strings.ToLower(s.text[max(0, start-24):start]), "authorization")
	if is(s.at(start-1), letter) || len(v) < 8 || isFiller(v) {
		return
	}
	sh := shapeOf(v)
	if looksDrawn(core(v)) || header && (sh.digits > 0 || len(v) >= 16 && sh.other == 0) && !isVersion(v) {
		s.add(i, end, ruleBearer)
	}
}

// jwt reads a JSON Web Token: base64 of {" and three parts, or at least a long one.
func (s *scanner) jwt(i int) {
	if s.text[i:i+3] != "eyJ" || is(s.at(i-1), alnum|under|dash) {
		return
	}
	end := i
	for end < len(s.text) && is(s.text[end], word|dot|plus) && s.text[end] != ':' && s.text[end] != '~' {
		end++
	}
	end = s.trimEnd(i, end)
	v := s.text[i:end]
	head, _, parts := strings.Cut(v, ".")
	if len(head) < 12 || len(v) < 32 {
		return
	}
	raw, _ := base64.RawURLEncoding.DecodeString(strings.TrimRight(head[:len(head)&^3], "="))
	claims := strings.ContainsRune(string(raw), '"')
	if parts && claims || claims && strings.Contains(string(raw), `"alg"`) || claims && len(v) > 40 && s.near(i, 60) {
		s.add(i, end, ruleJWT)
	}
}

// hash reads the hash of a password as crypt(5) writes it.
func (s *scanner) hash(i int) {
	end := i
	for end < len(s.text) && end-i < longest && (is(s.text[end], word|plus|dot) || strings.IndexByte("$*,@{}", s.text[end]) >= 0) {
		end++
	}
	end = s.trimEnd(i, end)
	v := s.text[i:end]
	if strings.Count(v, "$") >= 3 && len(v) >= 26 || strings.HasPrefix(v, "{") && len(v) > 24 || strings.HasPrefix(v, "pbkdf2") && strings.Count(v, "$") >= 3 || strings.HasPrefix(v, "$P$") && len(v) == 34 {
		s.add(i, end, ruleHash)
	}
}

// pem reads a private key between its lines; one that is cut off ends where its
// alphabet does.
func (s *scanner) pem(i int) {
	const most = 16 << 10
	if i < s.pemTo {
		return
	}
	head := s.text[i:min(len(s.text), i+80)]
	n := strings.Index(head[5:], "-----")
	if n < 0 || !strings.Contains(head[:5+n], "PRIVATE KEY") {
		return
	}
	start := i + 5 + n + 5
	window := s.text[start:min(len(s.text), start+most)]
	end := len(window)
	if e := strings.Index(window, "-----END"); e >= 0 {
		end = e
		if f := strings.Index(window[e+8:min(len(window), e+80)], "-----"); f >= 0 {
			end = e + 8 + f + 5
		}
	} else if e := strings.Index(window, "\n\n"); e >= 0 {
		end = e
	}
	s.pemTo = start + end
	if len(strings.TrimSpace(window[:end])) < 16 {
		return
	}
	s.add(i, start+end, rulePEM)
}

// flag reads what follows a flag of a command that takes a password.
func (s *scanner) flag(start, i int, kind uint16) {
	glued := !isSpace(s.at(i))
	i = s.skipSpace(i)
	switch kind {
	case 0:
		s.userPassword(i)
	case 1:
		if s.nearCommand(start) != "" {
			s.value(i, meaning{sure, ruleFlag}, context{command: true})
		}
	case 2:
		s.netrc(i)
	case 3:
		s.value(i, meaning{sure, rulePassword}, context{command: true})
	case 4:
		if strings.HasPrefix(s.text[i:], "-p") {
			s.value(s.skipSpace(i+2), meaning{sure, ruleFlag}, context{command: true})
		}
	case 5:
		s.netUse(i)
	case 6:
		s.secureString(i)
	case 7:
		if glued && strings.HasPrefix(s.nearCommand(start), "mysql") {
			s.value(i, meaning{sure, ruleFlag}, context{command: true})
		}
	case 8:
		if end := i + indexAny(s.text[i:], " \n"); s.at(end) == ' ' && is(s.at(end+1), alnum) {
			s.value(end+1, meaning{sure, ruleFlag}, context{command: true})
		}
	}
}

// userPassword reads user:password, as curl -u takes it.
func (s *scanner) userPassword(i int) {
	if isQuote(s.at(i)) || isQuote(s.at(i-1)) && is(s.at(i), alnum) {
		if isQuote(s.at(i)) {
			i++
		}
	}
	end := i
	for end < len(s.text) && end-i < 256 && strings.IndexByte(" \t\r\n\"'`", s.text[end]) < 0 {
		end++
	}
	user, password, ok := strings.Cut(s.text[i:end], ":")
	if !ok || password == "" || strings.HasPrefix(password, "//") {
		if v := s.text[i:end]; looksDrawn(v) && len(v) >= 20 {
			s.add(i, end, ruleUserPass)
		}
		return
	}
	if isReference(password) || isFiller(password) || strings.ContainsAny(user, "/$") {
		return
	}
	s.add(i+len(user)+1, end, ruleUserPass)
}

// passwordCommands take a password after a flag.
const passwordCommands = `login mysql mysqldump mysqladmin sshpass docker helm redis-cli mongo psql oc net xfreerdp rdesktop smbclient ldapsearch
	rpcclient psexec wmic kinit ftp plink pscp sqlcmd rabbitmqctl htpasswd crackmapexec evil-winrm impacket vncviewer connect-viserver
	nxc`

// nearCommand returns such a command that stands before i in its line, "" for none.
func (s *scanner) nearCommand(i int) string {
	const reach = 120
	for n := s.hitsTo(i) - 1; n >= 0; n-- {
		end := int(s.hits[n].end)
		if end < i-reach {
			return ""
		}
		k := &keywords[s.hits[n].word]
		if k.look == lookCommand && !is(s.at(end-len(k.text)-1), alnum) && !is(s.at(end), letter) {
			if strings.IndexByte(s.text[end:i], '\n') >= 0 {
				return ""
			}
			return k.text
		}
	}
	return ""
}

// netrc reads login x password y.
func (s *scanner) netrc(i int) {
	end := i
	for end < len(s.text) && end-i < 128 && !isSpace(s.text[end]) && s.text[end] != '\n' {
		end++
	}
	rest := strings.TrimLeft(s.text[end:min(len(s.text), end+200)], " \t\r\n")
	if value, ok := strings.CutPrefix(rest, "password "); ok {
		at := end + strings.Index(s.text[end:], "password ") + len("password ")
		v := value[:max(0, indexAny(value, " \t\r\n\"'"))]
		if v != "" && !isFiller(v) {
			s.add(at, at+len(v), ruleNetrc)
		}
	}
}

// indexAny is strings.IndexAny, with the length for none.
func indexAny(s, chars string) int {
	if n := strings.IndexAny(s, chars); n >= 0 {
		return n
	}
	return len(s)
}

// netUse reads net use … /user:name password.
func (s *scanner) netUse(i int) {
	end := i + indexAny(s.text[i:min(len(s.text), i+80)], " \t\r\n")
	if s.at(end) == ' ' && s.nearCommand(i) != "" {
		s.value(s.skipSpace(end), meaning{sure, ruleFlag}, context{command: true})
	}
}

// secureString reads ConvertTo-SecureString "x" in either order of its flags.
func (s *scanner) secureString(i int) {
	for range 4 {
		for s.at(i) == '-' {
			n := s.run(i, word, 32)
			i = s.skipSpace(n)
		}
		if isQuote(s.at(i)) {
			s.value(i, meaning{sure, ruleFlag}, context{command: true})
			return
		}
	}
}
