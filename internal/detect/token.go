package detect

import (
	"hash/crc32"
	"strconv"
	"strings"
)

// A prefix is a row of the table of prefixes.
type prefix struct {
	text     string
	alphabet uint8
	min, max int
	rule     *Rule
}

// prefixes holds the rows by their first two bytes, and starts tells quickly, from
// three, that there is none.
var (
	prefixes [1 << 14][]prefix
	starts   [1 << 15 / 64]uint64
)

func pairKey(v string) uint { return uint(v[0]&0x7f)<<7 | uint(v[1]&0x7f) }

func startBit(a, b, c byte) uint {
	return (uint(a)*31*31 + uint(b)*31 + uint(c)) * 40503 >> 3 & (1<<15 - 1)
}

var alphabets = map[byte]uint8{
	'b': alnum, 'u': word, 'h': hexed, 'd': digit, 'a': lower | digit, 'A': upper | digit,
	's': word | plus, 'x': word | plus | dot,
}

func init() {
	rules := map[string]*Rule{}
	for line := range strings.Lines(strings.TrimSpace(prefixTable)) {
		f := strings.Fields(line)
		r := rules[f[0]+f[1]]
		if r == nil {
			r = prefixRule(f[0], f[1])
			rules[f[0]+f[1]] = r
		}
		low, _ := strconv.Atoi(f[4])
		high, _ := strconv.Atoi(f[5])
		p := prefix{f[2], alphabets[f[3][0]], low, high, r}
		key := p.text[:2]
		prefixes[pairKey(key)] = append(prefixes[pairKey(key)], p)
		thirds := p.text[2:]
		if thirds == "" {
			thirds = base62
		} else {
			thirds = thirds[:1]
		}
		for i := range len(thirds) {
			bit := startBit(key[0], key[1], thirds[i])
			starts[bit/64] |= 1 << (bit % 64)
		}
	}
}

// prefixRule makes the rule of a service's tokens. A service with two kinds of them
// has two rules.
func prefixRule(service, label string) *Rule {
	id := "token." + service
	for _, r := range registry {
		if r.ID == id {
			id += "." + strings.ToLower(label[strings.LastIndexByte(label, '_')+1:])
			break
		}
	}
	typ := "secret." + strings.ToLower(label)
	return rule(id, typ, label, "a credential of "+service, "the service's documentation")
}

// startsToken reports, at a glance, whether a token may start at i.
func (s *scanner) startsToken(i int) bool {
	if i+12 > len(s.text) {
		return false
	}
	bit := startBit(s.text[i], s.text[i+1], s.text[i+2])
	return starts[bit/64]&(1<<(bit%64)) != 0
}

// prefixed looks for a token whose prefix starts at i.
func (s *scanner) prefixed(i int) {
	list := prefixes[pairKey(s.text[i:])]
	for k := range list {
		if strings.HasPrefix(s.text[i:], list[k].text) && s.token(i, &list[k]) {
			return
		}
	}
}

func (s *scanner) token(i int, p *prefix) bool {
	start := i + len(p.text)
	end := s.run(start, p.alphabet, p.max+1)
	if p.alphabet&dot != 0 {
		end = s.trimEnd(start, end)
	}
	if n := end - start; n < p.min || n > p.max || is(s.at(end), alnum) {
		return false
	}
	body := s.text[start:end]
	if !varied(body) || !checked(p, body) || example(body) {
		return false
	}
	if sh := shapeOf(body); sh.other > 0 && sh.digits < 2 && len(body) < 60 && !sh.random(len(body)) {
		return false // a name with - or _ in it
	}
	s.add(i, end, p.rule)
	return true
}

// trimEnd takes off what ends a sentence rather than a token.
func (s *scanner) trimEnd(start, end int) int {
	for end > start && strings.IndexByte(".:/~!", s.text[end-1]) >= 0 {
		end--
	}
	return end
}

// example reports whether a token is one that documentation shows.
func example(body string) bool {
	l := strings.ToLower(body)
	return repeats(l) || strings.Contains(l, "xxxx") || strings.HasSuffix(body, "EXAMPLE")
}

// varied reports whether s is no filler such as xxxx or 000000.
func varied(s string) bool {
	var seen [256]bool
	n := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n >= min(6, 2+len(s)/4)
}

// checked reports whether the checksum that some tokens end with fits. Tokens made
// up for an example do not fit theirs, and are removed all the same when they look
// random: a reader cannot tell them from real ones either.
func checked(p *prefix, body string) bool {
	if len(body) != 36 || p.rule.ID != "token.github" && p.rule.ID != "token.npm" {
		return true
	}
	return crcFits(body[:30], body[30:]) || looksRandom(body) || strings.ContainsAny(body, "0123456789")
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func crcFits(body, sum string) bool {
	n := crc32.ChecksumIEEE([]byte(body))
	for i := len(sum) - 1; i >= 0; i-- {
		if sum[i] != base62[n%62] {
			return false
		}
		n /= 62
	}
	return n == 0
}
