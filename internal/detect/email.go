package detect

import "strings"

// email reads the address whose @ stands at i.
func (s *scanner) email(i int) {
	start := i
	for start > 0 && i-start < 64 && (is(s.text[start-1], word) || strings.IndexByte(".+%'!#$&*", s.text[start-1]) >= 0 || s.text[start-1] >= 0x80) {
		start--
	}
	for start < i && strings.IndexByte(".'!#$&*%", s.text[start]) >= 0 {
		start++
	}
	end := s.domain(i + 1)
	if start == i || end < 0 {
		return
	}
	if s.at(start-1) == ':' && s.at(start-2) == '/' || s.at(start-1) == '/' || s.at(start-1) == ':' && s.inAddress(start) && !strings.HasSuffix(s.text[:start], "mailto:") {
		return // the user of an address, read there
	}
	if s.text[start:i] == "git" {
		return // git@host:path
	}
	s.add(start, end, ruleEmail)
}

// domain returns where the host name that starts at i ends, -1 when there is none
// with a top level.
func (s *scanner) domain(i int) int {
	end := i
	for end < len(s.text) && end-i < 128 && (is(s.text[end], alnum|dash) || s.text[end] == '.' || s.text[end] >= 0x80) {
		end++
	}
	for end > i && (s.text[end-1] == '.' || s.text[end-1] == '-') {
		end--
	}
	top := strings.LastIndexByte(s.text[i:end], '.')
	if top <= 0 {
		return -1
	}
	name := s.text[i+top+1 : end]
	if len(name) < 2 || fileEndings[strings.ToLower(name)] || s.text[i] == '.' {
		return -1
	}
	if strings.HasPrefix(name, "xn--") {
		return end
	}
	for k := range len(name) {
		if !is(name[k], letter|dash) && name[k] < 0x80 {
			return -1
		}
	}
	return end
}

// fileEndings end names such as image@2x.png that are no host names.
var fileEndings = words("png jpg jpeg gif svg webp css js ts jsx tsx mjs json html go py rb java md txt yml yaml toml lock sh xml")

func (s *scanner) inAddress(i int) bool {
	return len(s.urls) > 0 && s.urlAt(i)
}

// emailIn finds an email address in a short text.
func emailIn(v string) (int, int, bool) {
	at := strings.IndexByte(v, '@')
	if at <= 0 {
		return 0, 0, false
	}
	s := scanner{text: v}
	s.email(at)
	if len(s.spans) == 0 {
		return 0, 0, false
	}
	return s.spans[0].Start, s.spans[0].End, true
}
