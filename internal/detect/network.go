package detect

import (
	"net/netip"
	"strings"
)

// ipv4 reads an address of version 4, with a length of prefix if one follows.
func (s *scanner) ipv4(i int) int {
	j := i
	for part := range 4 {
		n, value := 0, 0
		for n < 4 && is(s.at(j), digit) {
			value = value*10 + int(s.text[j]-'0')
			j++
			n++
		}
		if n == 0 || n > 3 || value > 255 || n > 1 && s.text[j-n] == '0' {
			return 0
		}
		if part < 3 {
			if s.at(j) != '.' {
				return 0
			}
			j++
		}
	}
	if is(s.at(j), alnum|under) || s.at(j) == '.' && is(s.at(j+1), alnum) || s.at(j) == '-' && is(s.at(j+1), alnum) || is(s.at(i-1), alnum|under|dash) || s.at(i-1) == '.' || s.at(i-1) == '^' || s.at(i-1) == '~' {
		return 0
	}
	if s.versionBefore(i) {
		return 0
	}
	end := s.prefixLength(j, 2)
	if a := s.text[i:j]; a == "0.0.0.0" || a == "255.255.255.255" || a == "169.254.169.254" || strings.HasPrefix(a, "127.") || strings.HasPrefix(a, "255.255.") {
		return j // every machine has it
	}
	s.add(i, end, ruleIP)
	return end
}

// versionBefore reports whether the word before i says that a version follows.
func (s *scanner) versionBefore(i int) bool {
	b := strings.TrimRight(s.text[max(0, i-16):i], " =:\"'v>~^<")
	for _, w := range [...]string{"version", "release", "ver", "chrome/", "safari/", "firefox/", "edge/", "edg/", "oid", "section", "build", "jar", "tag", "@", "opr/"} {
		if len(b) >= len(w) && strings.EqualFold(b[len(b)-len(w):], w) {
			return true
		}
	}
	return false
}

func (s *scanner) prefixLength(j, most int) int {
	if s.at(j) != '/' {
		return j
	}
	k := s.run(j+1, digit, most+2)
	if k > j+1 && k-j-1 <= most+1 && !is(s.at(k), alnum|dot) {
		return k
	}
	return j
}

// colons reads an address of version 6 or a hardware address whose first group is
// text[start:end].
func (s *scanner) colons(start, end int) {
	for i := start; i < end; i++ {
		if !is(s.text[i], hexed) {
			return
		}
	}
	if is(s.at(start-1), dot) || !is(s.at(end+1), hexed) && s.at(end+1) != ':' || s.addressTo > start {
		return
	}
	if end-start == 2 && s.mac(start) {
		return
	}
	s.ipv6(start)
}

func (s *scanner) mac(i int) bool {
	sep := s.at(i + 2)
	for part := range 6 {
		at := i + part*3
		if !is(s.at(at), hexed) || !is(s.at(at+1), hexed) || part < 5 && s.at(at+2) != sep {
			return false
		}
	}
	end := i + 17
	if is(s.at(end), alnum) || s.at(end) == sep || s.text[i:end] == strings.Repeat("00"+string(sep), 5)+"00" || strings.EqualFold(s.text[i:end], strings.Repeat("ff"+string(sep), 5)+"ff") {
		return false
	}
	s.add(i, end, ruleMAC)
	s.addressTo = end
	return true
}

// ciscoMAC reads a hardware address in three groups of four.
func (s *scanner) ciscoMAC(i int) {
	for part := range 3 {
		at := i + 5*part
		for k := at; k < at+4; k++ {
			if !is(s.at(k), hexed) {
				return
			}
		}
		if part < 2 && s.at(at+4) != '.' {
			return
		}
	}
	if end := i + 14; !is(s.at(end), alnum|dot) && !is(s.at(i-1), alnum|dot) && shapeOf(s.text[i:end]).digits < 12 {
		s.add(i, end, ruleMAC)
	}
}

func (s *scanner) ipv6(i int) {
	end, colons := i, 0
	for end < len(s.text) && end-i < 48 && (is(s.text[end], hexed) || s.text[end] == ':' || s.text[end] == '.') {
		if s.text[end] == ':' {
			colons++
		}
		end++
	}
	for end > i && (s.text[end-1] == '.' || s.text[end-1] == ':' && !strings.HasSuffix(s.text[i:end], "::")) {
		end--
	}
	if colons < 2 || is(s.at(end), alnum) && s.text[end] != '%' {
		return
	}
	if s.at(end) == '%' {
		end = s.run(end+1, word, 16)
	}
	a, err := netip.ParseAddr(s.text[i:end])
	if err != nil || a.IsUnspecified() || strings.HasSuffix(s.text[i:end], "::") {
		return
	}
	if short := end - i; short < 5 && s.text[i:end] != "::1" {
		return // a::b is more often code
	}
	if s.text[i:end] == "::1" && is(s.at(i-1), alnum) {
		return
	}
	s.addressTo = end
	s.add(i, s.prefixLength(end, 3), ruleIP)
}
