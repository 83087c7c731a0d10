package detect

import "strings"

// assignment reads the setting whose name has a keyword at [start, end): the name,
// what binds the value to it, the value.
func (s *scanner) assignment(start, end int) {
	const most = 64
	from := start
	for from > 0 && start-from < most && (is(s.text[from-1], word) || s.text[from-1] >= 0x80) {
		from--
	}
	to := end
	for to < len(s.text) && to-end < most && (is(s.text[to], word) || s.text[to] >= 0x80) {
		to++
	}
	if to-end >= most || s.seen(from) || s.within > mostNested && to+8 < s.valueTo || !s.mayBind(from, to) {
		return
	}
	s.lastName = from
	m := nameMeans(s.text[from:to])
	if m.strength == silent {
		return
	}
	s.bound(from, to, m)
}

// seen reports whether the name that starts at from was read for another of its
// keywords.
func (s *scanner) seen(from int) bool { return s.lastName == from }

// mayBind reports, at a glance, whether something may bind a value to the name.
func (s *scanner) mayBind(from, to int) bool {
	i := to
	for n := 0; n < 4 && isSpace(s.at(i)); n++ {
		i++
	}
	if s.at(to) == '\'' && s.at(to+1) == 's' && isSpace(s.at(to+2)) {
		return false // the key's owner
	}
	if s.inDockerfile(from) || s.isDirective(from, to) || s.nextLine(to) > 0 {
		return true
	}
	if c := s.at(i); is(c, letter) && c != 'i' && !strings.HasPrefix(s.text[i:], "string =") || c == '.' || c == ')' || c == '\n' || c == 0 || c == ';' {
		b := from - 1
		for n := 0; n < 3 && isSpace(s.at(b)); n++ {
			b--
		}
		return s.at(b) == '=' || s.at(from) == '-' || is(c, letter) && s.at(from-1) == '/' || (i > to && is(c, letter) && isFlagName(s.text[from:to])) || s.at(b) == '-'
	}
	return true
}

// inDockerfile reports whether ENV stands before i, and nothing else in its line: then
// a blank binds.
func (s *scanner) inDockerfile(i int) bool {
	return i >= 4 && s.text[i-4:i] == "ENV " && (i == 4 || s.text[i-5] == '\n')
}

// isDirective reports whether text[from:to] is the first of two words that are all of
// a line, as in files of settings; the other holds a digit.
func (s *scanner) isDirective(from, to int) bool {
	const longest = 64
	if from > 0 && s.text[from-1] != '\n' || s.at(to) != ' ' {
		return false
	}
	end, digits := to+1, false
	for end < len(s.text) && end-to < longest && !stops[s.text[end]] {
		digits = digits || is(s.text[end], digit)
		end++
	}
	return digits && (end == len(s.text) || s.text[end] == '\n' || s.text[end] == '\r')
}

// nextLine returns where the value stands of a name that ends at i, when the next line
// is value: and that, as in lists of variables of YAML; 0 when it is not.
func (s *scanner) nextLine(i int) int {
	if isQuote(s.at(i)) {
		i++
	}
	if s.at(i) != '\n' {
		return 0
	}
	if i = s.skipSpace(i + 1); strings.HasPrefix(s.text[i:], "value: ") {
		return s.skipSpace(i + len("value: "))
	}
	return 0
}

func isFlagName(name string) bool { return name[0] == '-' }

// bound looks for what binds a value to the name text[from:to].
func (s *scanner) bound(from, to int, m meaning) {
	c := context{}
	i := to
	closed := false
	if s.at(from-1) == '$' && isQuote(s.at(to)) {
		return // a variable between quotes of a shell
	}
	if isQuote(s.at(from-1)) && s.at(from-2) == '=' && isQuote(s.at(to)) {
		s.element(from, to, m)
		return // a value itself
	}
	if isQuote(s.at(i)) || s.at(i) == '\\' && isQuote(s.at(i+1)) {
		closed = true
		for s.at(i) == '\\' || isQuote(s.at(i)) {
			i++
		}
	}
	if s.at(i) == '&' {
		i += len(s.entity(i))
	}
	for s.at(i) == ']' || s.at(i) == '[' && s.at(i+1) == ']' {
		i++
	}
	gap := s.skipSpace(i)
	if flag := s.at(from-1) != '"' && (s.at(from) == '-' || s.at(from-1) == '/' || s.inDockerfile(from)) && gap > i; flag && m.strength >= strong {
		c.command = true
		if s.at(gap) != '=' && s.at(gap) != ':' {
			s.value(gap, m, c)
			return
		}
	}
	if m.strength == sure && s.isDirective(from, to) {
		s.value(gap, m, c)
		return
	}
	next, ok := s.operator(gap, &c, gap > i, closed)
	if !ok {
		s.element(from, to, m)
		if j := s.nextLine(i); j > 0 {
			s.value(j, m, c)
		}
		s.compared(from, m)
		return
	}
	c.connection = s.at(next-1) == '=' && gap == i && (s.at(from-1) == ';' || s.at(from-1) == ' ' && s.at(from-2) == ';')
	after := s.skipSpace(next)
	if s.at(next-1) == '>' && s.at(after) == '\n' {
		after = s.skipSpace(after + 1)
	}
	if after == next && gap == i {
		c.code = false
	} else if s.at(next-1) == '=' {
		c.code = true
	}
	s.value(after, m, c)
}

// operator reads what may stand between a name and its value.
func (s *scanner) operator(i int, c *context, gap, closed bool) (int, bool) {
	start := i
	for i < len(s.text) && i-start < 5 && strings.IndexByte("=:>|<?!+", s.text[i]) >= 0 {
		i++
	}
	for i-start > 1 && contains("=:", s.text[i-2]) && contains("<!+", s.text[i-1]) {
		i-- // the value starts so
	}
	op := s.text[start:i]
	if op == "" {
		return s.wordOperator(i, gap, closed)
	}
	switch op {
	case ">", "<", "!", "?", "+", "|", "||", "<<", ">>", ">=", "<=", "?:":
		if op == ">" && s.inTag(start) || op == "||" {
			return i, true
		}
		return i, false
	case ":":
		return s.typed(i)
	}
	return i, true
}

// compared reads the value of a comparison written the other way: "x" == password.
func (s *scanner) compared(from int, m meaning) {
	i := from
	for n := 0; n < 4 && isSpace(s.at(i-1)); n++ {
		i--
	}
	j := s.back(i, plus, 3)
	if i-j < 2 || s.at(j-1) == '!' {
		j--
	}
	for n := 0; n < 4 && isSpace(s.at(j-1)); n++ {
		j--
	}
	if i-j < 2 || !isQuote(s.at(j-1)) {
		return
	}
	q := s.text[j-1]
	for k := j - 2; k >= 0 && k > j-200 && s.text[k] != '\n'; k-- {
		if s.text[k] == q {
			s.offer(k+1, j-1, m, context{quoted: true})
			return
		}
	}
}

// typed passes over a type between : and =, as in password: string = "x".
func (s *scanner) typed(i int) (int, bool) {
	j := s.skipSpace(i)
	k := s.run(j, word, 32)
	l := s.skipSpace(k)
	if k > j && s.at(l) == '=' && s.at(l+1) != '=' && s.at(l+1) != '>' && isQuote(s.at(s.skipSpace(l+1))) {
		return l + 1, true
	}
	return i, true
}

// wordOperator reads what binds without a sign: a comma or a parenthesis before a
// quote, a word such as is.
func (s *scanner) wordOperator(i int, gap, closed bool) (int, bool) {
	switch c := s.at(i); {
	case c == ',' && closed:
		j := s.skipSpace(i + 1)
		return j, isQuote(s.at(j))
	case c == '(' && !closed:
		j := s.skipSpace(i + 1)
		return j, isQuote(s.at(j))
	case gap && strings.HasPrefix(s.text[i:], "is "):
		return i + 3, true
	case gap && strings.HasPrefix(s.text[i:], "string = "):
		return i + len("string = "), true
	case gap && (c == '"' || c == '\'') && !closed:
		return i, true
	}
	return i, false
}

// inTag reports whether i ends a tag of XML: <password>x</password>.
func (s *scanner) inTag(i int) bool {
	j := s.back(i, word|dot, 64)
	return s.at(j-1) == '<' && !isQuote(s.at(j-2)) && s.at(j-2) != '='
}

// element reads the value of an element of XML whose name stands in an attribute:
// <add key="password" value="x"/>, {"name":"password","value":"x"}.
func (s *scanner) element(from, to int, m meaning) {
	if from == 0 || !isQuote(s.at(from-1)) || !isQuote(s.at(to)) {
		return
	}
	if s.text[s.skipSpace(to+1):min(len(s.text), s.skipSpace(to+1)+1)] == "{" {
		s.variable(to, m)
		return
	}
	rest := s.text[to+1 : min(len(s.text), to+40)]
	i := strings.Index(rest, "value")
	if i < 0 {
		i = strings.Index(rest, "Value")
	}
	if i < 0 || strings.ContainsAny(rest[:i], "}<") {
		return
	}
	j := to + 1 + i + len("value")
	if isQuote(s.at(j)) {
		j++
	}
	j = s.skipSpace(j)
	if s.at(j) == '=' || s.at(j) == ':' {
		s.value(s.skipSpace(j+1), m, context{})
	}
}

// variable reads the default in the block of a variable: variable "x" { default = "y" }.
func (s *scanner) variable(i int, m meaning) {
	const reach = 300
	block := s.text[i:min(len(s.text), i+reach)]
	block = block[:indexAny(block, "}")]
	n := strings.Index(block, "default")
	if n < 0 {
		return
	}
	if j := s.skipSpace(i + n + len("default")); s.at(j) == '=' {
		s.value(s.skipSpace(j+1), m, context{})
	}
}

// value reads the value that starts at i and adds it if it is credible.
func (s *scanner) value(i int, m meaning, c context) {
	i = s.unwrap(i)
	if i >= s.valueTo {
		s.within = 0
	} else if s.within++; s.within > mostNested {
		return
	}
	switch {
	case s.at(i) == '[' && isQuote(s.at(s.skipSpace(i+1))):
		s.list(i+1, m, c)
	case s.at(i) == '\\' && isQuote(s.at(i+1)):
		s.escaped(i+2, s.text[i:i+2], m, c)
	case isQuote(s.at(i)):
		s.quoted(i, m, c)
	case s.at(i) == '&' && s.entity(i) != "":
		s.escaped(i+len(s.entity(i)), s.entity(i), m, c)
	default:
		s.bare(i, m, c)
	}
}

// mostNested is how many settings are read within the value of another: a=b=c=d.
const mostNested = 2

// unwrap passes over a call round a quoted value: String("x"), []byte(`x`).
func (s *scanner) unwrap(i int) int {
	if s.at(i) == 'b' || s.at(i) == 'r' || s.at(i) == 'f' || s.at(i) == 'u' || s.at(i) == '@' || s.at(i) == '&' {
		if isQuote(s.at(i + 1)) {
			return i + 1
		}
	}
	j := i
	for n := 0; n < 40 && (is(s.at(j), word|dot) || s.at(j) == '[' || s.at(j) == ']' || s.at(j) == ' ' && j == i+3); n++ {
		j++
	}
	if j > i && s.at(j) == '(' && isQuote(s.at(j+1)) && !strings.Contains(strings.ToLower(s.text[i:j]), "env") && !strings.Contains(strings.ToLower(s.text[i:j]), "get") {
		return j + 1
	}
	return i
}

// entity returns the quote of HTML at i, "" for none.
func (s *scanner) entity(i int) string {
	for _, e := range [...]string{"&#34;", "&#39;", "&quot;", "&apos;", "&#x27;"} {
		if strings.HasPrefix(s.text[i:], e) {
			return e
		}
	}
	return ""
}

func (s *scanner) list(i int, m meaning, c context) {
	for range 16 {
		i = s.skipSpace(i)
		if !isQuote(s.at(i)) {
			return
		}
		end := s.quoted(i, m, c)
		i = s.skipSpace(end + 1)
		if end < 0 || s.at(i) != ',' {
			return
		}
		i++
	}
}

// longest is how much of a value is read.
const longest = 1024

// quoted reads a value between quotes and returns where the closing one stands.
func (s *scanner) quoted(i int, m meaning, c context) int {
	q := s.text[i]
	if s.at(i+1) == q && s.at(i+2) == q {
		i += 2
	}
	for j := i + 1; j < len(s.text) && j-i < longest; j++ {
		s.valueTo = max(s.valueTo, j)
		switch {
		case s.text[j] == '\\':
			j++
		case s.text[j] == q || s.text[j] == '\n' && q != '`':
			c.quoted = true
			if s.text[j] == '\n' {
				return -1
			}
			s.offer(i+1, j, m, c)
			return j
		}
	}
	return -1
}

// escaped reads a value between quotes that are escaped themselves.
func (s *scanner) escaped(i int, q string, m meaning, c context) {
	window := s.text[i:min(len(s.text), i+longest)]
	if n := strings.Index(window, q); n >= 0 && !strings.Contains(window[:n], "\n") {
		c.quoted = true
		s.offer(i, i+n, m, c)
	}
}

// longestBare is how much of a value without quotes is read.
const longestBare = 512

// stops are the bytes that end a value without quotes.
var stops = func() (t [256]bool) {
	for _, c := range []byte(" \t\r\n\"'`<>|") {
		t[c] = true
	}
	return t
}()

// bare reads a value without quotes: up to a blank or what ends it in a list.
func (s *scanner) bare(i int, m meaning, c context) {
	end := i
	for end < len(s.text) && end-i < longestBare && !stops[s.text[end]] {
		if s.text[end] == '&' && !c.code && end > i && (m.rule != rulePassword || s.endsParameter(end) || s.inForm(i)) || contains(",;@", s.text[end]) && m.rule != rulePassword {
			break
		}
		if s.text[end] == '\\' && (s.at(end+1) == 'n' || s.at(end+1) == 'r' || s.at(end+1) == '"') {
			break
		}
		end++
	}
	for end > i && strings.IndexByte(",;)]}", s.text[end-1]) >= 0 {
		if o := map[byte]string{')': "(", ']': "[", '}': "{"}[s.text[end-1]]; o != "" && strings.Contains(s.text[i:end], o) {
			break
		}
		end--
	}
	if n := strings.IndexAny(s.text[i:end], ";"); n > 0 {
		end = i + n
	}
	for end > i+1 && (s.text[end-1] == '.' || s.text[end-1] == ':' || s.text[end-1] == ')' && s.at(end) == ':') {
		end--
	}
	c.prose = !c.command && isSpace(s.at(i-1)) && s.at(end) == ' ' && (is(s.at(end+1), letter) || s.at(end+1) == '/')
	c.connection = c.connection || s.at(end) == ';' && is(s.at(end+1), letter) && !c.code && s.at(i-1) == '='
	s.offer(i, end, m, c)
}

// inForm reports whether the value at i is a parameter's, after ? or &.
func (s *scanner) inForm(i int) bool {
	const name = 64
	for least := i - name; i > least && (s.at(i-1) == '=' || is(s.at(i-1), word)); i-- {
	}
	return s.at(i-1) == '?' || s.at(i-1) == '&'
}

// endsParameter reports whether the & at i begins the next parameter, an entity or a
// command, and is no letter of a password.
func (s *scanner) endsParameter(i int) bool {
	if !is(s.at(i+1), alnum) {
		return true
	}
	for i++; is(s.at(i), word) || s.at(i) == '.' || s.at(i) == '['; i++ {
	}
	return s.at(i) == '=' || s.at(i) == ']' || s.at(i) == ';'
}

func (s *scanner) offer(start, end int, m meaning, c context) {
	s.valueTo = max(s.valueTo, end)
	if end <= start {
		return
	}
	v := s.text[start:end]
	if trimmed := strings.TrimLeft(v, " "); trimmed != v && c.quoted {
		start, v = end-len(trimmed), trimmed
	}
	if m.rule == ruleCredential { // of a cookie, its value
		if name, rest, ok := strings.Cut(v, "="); ok && len(name) < 32 && len(rest) >= 8 && rest[0] != '=' && isIdentifier(name) {
			start, v = end-len(rest), rest
		}
	}
	if len(v) > 7 && c.quoted && (strings.HasPrefix(v, "Bearer ") || strings.HasPrefix(v, "Basic ")) {
		return // read as a header
	}
	if credible(v, m, c) {
		s.add(start, end, m.rule)
	}
}

// named reads the whole text as the value of a setting of that name.
func (s *scanner) named(name string) {
	if m := nameMeans(name); m.strength != silent {
		s.offer(0, len(s.text), m, context{quoted: true})
	}
}
