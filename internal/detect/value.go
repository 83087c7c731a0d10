package detect

import "strings"

// A context is how a value stands beside its name.
type context struct {
	quoted     bool
	code       bool // blanks around =, as in programs
	command    bool // after a flag
	prose      bool // a word follows
	connection bool // in a connection string, where no program has names
}

// credible reports whether v may be the value of a setting with that meaning: no
// example, no reference, no word of a program.
func credible(v string, m meaning, c context) bool {
	if len(v) > 16 && v[0] == '{' && v[len(v)-1] == '}' && !looksUUID(v[1:len(v)-1]) && looksDrawn(v[1:len(v)-1]) {
		return m.strength > silent
	}
	if len(v) == 0 || len(v) > 4096 || isReference(v) || strings.HasPrefix(v, "sha256:") {
		return false
	}
	if c.connection && m.strength == sure {
		return !isTemplate(v) && v[0] != '%'
	}
	if isFiller(v) {
		return false
	}
	switch m.strength {
	case weak:
		return len(v) >= 12 && !strings.ContainsAny(v, " \t\n(){}") && looksDrawn(core(v))
	case strong:
		return strongValue(v, c)
	case sure:
		return sureValue(v, m, c)
	}
	return false
}

// core leaves out what a random value may be wrapped in.
func core(v string) string {
	return strings.TrimRight(v, "=")
}

func strongValue(v string, c context) bool {
	if len(v) < 6 || strings.ContainsAny(v, " \t\n(){}<>,;") {
		return spaced(v) || punctuated(v, c)
	}
	sh := shapeOf(v)
	if !c.quoted && is(v[0], upper) && isIdentifier(v) && sh.lower > sh.upper && sh.digits < 4 && sh.common*100 >= sh.pairs*62 {
		return false // the name of a type
	}
	if looksDrawn(core(v)) {
		return true
	}
	if isPath(v) || isVersion(v) || isIdentifier(v) && sh.digits == 0 && (len(v) < 16 || !sh.random(len(v))) {
		return false
	}
	if sh.digits == len(v) && len(v) >= 16 {
		return true
	}
	if !c.quoted && (c.code || isIdentifier(v) && sh.upper > 0 && sh.lower > 0) {
		return false
	}
	if sh.digits == len(v) {
		return len(v) >= 12
	}
	if c.quoted && sh.pairs >= 6 && sh.pairs == len(v)-1 && sh.common*100 < sh.pairs*62 {
		return true // a drawn word of letters
	}
	if sh.digits > 0 && (sh.letters() > 0 || sh.other > 0) {
		return len(v) >= 8 || sh.changes > 2
	}
	return sh.other > 1 && len(v) >= 10 && !dashed(v)
}

// punctuated accepts a long value of letters, digits and signs between quotes, as
// frameworks draw their keys.
func punctuated(v string, c context) bool {
	sh := shapeOf(v)
	return c.quoted && len(v) >= 20 && strings.IndexByte(v, ' ') < 0 && (sh.digits >= 2 && sh.other >= 3 || sh.other >= 6) && !isTemplate(v) && sh.distinct*2 >= min(len(v), 40)
}

// spaced accepts a key written in groups, as authenticators show them.
func spaced(v string) bool {
	if len(v) < 19 || len(v) > 100 {
		return false
	}
	groups := 0
	for g := range strings.FieldsSeq(v) {
		if len(g) != 4 {
			return false
		}
		for i := range len(g) {
			if !is(g[i], alnum) {
				return false
			}
		}
		groups++
	}
	return groups >= 4 && shapeOf(v).digits > 1
}

func sureValue(v string, m meaning, c context) bool {
	if m.rule == ruleSeed {
		return strings.Count(v, " ") >= 11
	}
	if strings.ContainsAny(v, " \t\n") {
		return c.quoted && len(v) < 64 && phrase(v)
	}
	if len(v) < 4 || strings.HasPrefix(v, "-") || isVersion(v) && !c.quoted {
		return false
	}
	if foreign(v) {
		return false
	}
	if c.quoted {
		return !isDotted(v) && !isName(v) && !isCall(v) && !isMarkup(v)
	}
	return bareValue(v, c)
}

// phrase accepts a password of several words: one with a digit, or with no capital
// as sentences start with. Translations of the word itself are no passwords.
func phrase(v string) bool {
	sh := shapeOf(v)
	if sh.digits == 0 && sh.lower+strings.Count(v, " ") == len(v) {
		return plainPhrase(v)
	}
	return sh.digits > 0 && strings.Count(v, " ") < 4 && !strings.ContainsAny(v, "(){}:,") && nonASCII(v) == 0
}

// plainPhrase accepts four to eight words that make no sentence: none of them holds
// one together or names a credential.
func plainPhrase(v string) bool {
	n := 0
	for w := range strings.FieldsSeq(v) {
		if len(w) < 3 || len(w) > 9 || isCommon(w) || isName(w) {
			return false
		}
		n++
	}
	return n >= 4 && n <= 8
}

func nonASCII(v string) int {
	n := 0
	for i := range len(v) {
		if v[i] >= 0x80 {
			n++
		}
	}
	return n
}

// bareValue accepts a password without quotes, where programs have names.
func bareValue(v string, c context) bool {
	if isCall(v) || isDotted(v) || isIndexed(v) || isPath(v) || isName(v) || len(v) < 6 && strings.HasSuffix(v, "*") {
		return false
	}
	sh := shapeOf(v)
	if c.code && isIdentifier(v) {
		return sh.digits > 0 && looksPassword(sh, len(v))
	}
	if sh.digits == len(v) {
		return len(v) >= 4
	}
	if strings.IndexByte(v, '/') > 0 && sh.letters()+strings.Count(v, "/") == len(v) {
		return false
	}
	return !isCommon(v) && (!c.prose || sh.letters() < len(v))
}

// foreign reports whether v is a word of another script, as translations of the word
// password are.
func foreign(v string) bool {
	return ascii(v)*2 <= len(v) && nonASCII(v)*2 > len(v) && shapeOf(v).digits == 0
}

// isName reports whether v is the name of a credential rather than one.
func isName(v string) bool {
	for i := range len(v) {
		if !is(v[i], letter|under|dash) {
			return false
		}
	}
	return nameMeans(v).strength != silent
}

func isMarkup(v string) bool {
	return strings.Contains(v, "</") || strings.Contains(v, "><") || strings.Contains(v, "$_")
}

// isIndexed reports whether v starts with a name that is called or indexed.
func isIndexed(v string) bool {
	i := strings.IndexAny(v, "([)]{}")
	return i > 0 && (isIdentifier(v[:i]) && (v[i] != '{' || shapeOf(v).other < 3) || isDotted(v[:i]))
}

func looksPassword(sh shape, n int) bool {
	return sh.changes >= 1 && n >= 6 && (sh.digits > 1 || sh.changes > 2)
}

// commonWords stand after the name of a credential in prose and programs.
var commonWords = words(`is are was for and the a an to in of or not no yes on off true false null nil none undefined string str
	bool boolean int integer number any object array bytes byte text varchar char required optional must should can will
	with from by it this that be has have input hidden field fields type value values name username user your my hash hashed
	password passwords passwd secret token key keys code login error invalid incorrect wrong missing empty unset new old
	default example changeme protected reset policy manager authentication auth basic bearer here below above if else
	return let const var public private static final void self function func def class new2 env file path prompt ask
	interface struct map list optional2 nullable never unknown void2 select insert update delete where set only using`)

func isFiller(v string) bool {
	if IsPlaceholder(v) {
		return true
	}
	if !varied2(v) || repeats(v) {
		return true
	}
	switch v[0] {
	case '<', '{', '[', '%', '*', '#':
		if closes(v) {
			return true
		}
	}
	return fillers.matches(v) || isTemplate(v) || isCommon(v)
}

// isCommon reports whether v is one of [commonWords], in either case.
func isCommon(v string) bool {
	var buf [16]byte
	return len(v) <= len(buf) && commonWords[string(folded(buf[:0], v))]
}

// repeats reports whether most of v is one byte over and over.
func repeats(v string) bool {
	longest, n := 0, 0
	for i := range len(v) {
		if i > 0 && v[i] == v[i-1] {
			n++
		} else {
			n = 1
		}
		longest = max(longest, n)
	}
	return longest >= 6 && longest*3 >= len(v)
}

// fillers are parts of values that stand for a value.
var fillers = newAutomaton(strings.Fields(`xxxx **** .... ____ your_ your- yourp yours yourt yourk your. <your example_ _example example.com my_secret my-secret
	mysecret my_token my-token mytoken my_api myapikey my_key changeme change_me change-me replace_me replaceme placeholder redacted
	insert_ insert- _here -here notreal not-real fake_ fake- dummy todo fixme sample_ undefined <secret <token <password
	<key $( %( <% %{ @{ abcdefgh process.env os.environ os.getenv getenv`))

// varied2 refuses values of one or two different bytes.
func varied2(v string) bool {
	for i := range len(v) {
		if v[i] != v[0] {
			return true
		}
	}
	return false
}

// closes reports whether v is wrapped as a placeholder is.
func closes(v string) bool {
	switch last := v[len(v)-1]; v[0] {
	case '<':
		return last == '>'
	case '{':
		return last == '}'
	case '[':
		return last == ']'
	case '%', '*', '#':
		return last == v[0]
	}
	return false
}

// isReference reports whether v names where the value is, rather than being it.
func isReference(v string) bool {
	if v[0] == '$' && len(v) > 1 {
		return v[1] == '{' || v[1] == '(' || isIdentifier(v[1:]) && shapeOf(v).digits == 0 || isDotted(v[1:])
	}
	if v[0] == '@' || v[0] == '&' {
		return isIdentifier(v[1:])
	}
	for _, p := range references[v[0]] {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	return false
}

// references start the names of places that a value is kept in, by their first byte.
var references = func() (t [256][]string) {
	for _, p := range referenceHeads {
		t[p[0]] = append(t[p[0]], p)
	}
	return t
}()

var referenceHeads = [...]string{"%s", "%d", "%v", "%q", "process.env", "props.", "params.", "env.", "ENV[", "os.", "op://", "options.", "secrets.", "self.", "settings.", "var.", "vault:", "!ref", "!Ref", "file:", "arn:", "args.", "http://", "https://", "this.", "config.", "req.", "request.", "ref:", "data."}

func isIdentifier(v string) bool {
	for i := range len(v) {
		if !is(v[i], alnum|under) {
			return false
		}
	}
	return v != "" && !is(v[0], digit)
}

// isDotted reports whether v is a chain of names, such as request.form.
func isDotted(v string) bool {
	if !strings.Contains(v, ".") {
		return false
	}
	for p := range strings.SplitSeq(v, ".") {
		if !isIdentifier(p) || shapeOf(p).digits > 1 {
			return false
		}
	}
	return true
}

func isCall(v string) bool {
	return strings.ContainsAny(v, "()") && (strings.HasSuffix(v, ")") || strings.HasSuffix(v, "(") || strings.Contains(v, "()"))
}

func isPath(v string) bool {
	return strings.HasPrefix(v, "/") && !looksRandom(v[1:]) && strings.Count(v, "/") > 1 || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "../")
}

// isVersion reports whether v is a version or a date.
func isVersion(v string) bool {
	for i := range len(v) {
		if !is(v[i], digit|dot|dash) && (i > 0 || v[i] != 'v') {
			return false
		}
	}
	return strings.Count(v, ".") > 0
}

// dashed reports whether v is words joined by - or _, as ids and CSS classes are.
func dashed(v string) bool {
	for p := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == '/' || r == ':' }) {
		if looksRandom(p) {
			return false
		}
	}
	return true
}
