package tokentest

import (
	"fmt"
	"strings"
)

// required is every claim a token must have.
var required = []string{"iss", "sub", "aud", "jti", "iat", "nbf", "exp", "session_id", "redaction_policy", "max_hydrations", "mode"}

// members repeats, drops, renames and adds claims. Two readers of one token must
// never see two values (RFC 8725 §2.6).
func (f *forge) members() {
	end := strings.TrimSuffix(f.payload, "}")
	for _, name := range required {
		member := f.member(name)
		f.claims(name+" absent", member, `"x":1`)
		f.claims(name+" null", member, `"`+name+`":null`)
		f.claims(name+" in capitals", member, `"`+strings.ToUpper(name)+`":`+f.value(name))
		f.claims(name+" a list", member, `"`+name+`":[`+f.value(name)+`]`)
		f.signed("claims: "+name+" twice", f.Seal(f.header, end+","+member+"}"))
	}
	for name, extra := range map[string]string{
		"a second, later exp": `"exp":9999999999`, "EXP beside exp": `"EXP":9999999999`, "Exp beside exp": `"Exp":9999999999`, "an escaped exp": `"\u0065xp":9999999999`,
		"AUD beside aud": `"AUD":"mcp.unihodl.app"`, "audience": `"audience":"mcp.unihodl.app"`, "a second aud": `"aud":"mcp.unihodl.app"`, "SCOPE beside scope": `"SCOPE":["session:hand_off"]`,
		"a wider second scope": `"scope":["session:hand_off"]`, "scp": `"scp":"read:redacted"`, "an unknown claim": `"admin":true`, "an empty name": `"":1`, "__proto__": `"__proto__":{"mode":"live"}`,
		"a name with NUL": `"exp\u0000":1`, "a long s in scope": `"ſcope":["session:hand_off"]`, "Kelvin sign": `"\u212aid":1`, "may_act": `"may_act":{"sub":"x"}`, "crit": `"crit":["exp"]`,
	} {
		f.signed("claims: "+name, f.Seal(f.header, end+","+extra+"}"))
		f.signed("claims: first "+name, f.Seal(f.header, "{"+extra+","+strings.TrimPrefix(f.payload, "{")))
	}
}

// values gives each claim what is not of its type, form or range.
func (f *forge) values() {
	for _, name := range []string{"iat", "nbf", "exp"} {
		n := f.value(name)
		for what, value := range map[string]string{
			"a fraction": n + ".5", "a zero fraction": n + ".0", "an exponent": n + "e0", "a capital exponent": n + "E0", "a string": `"` + n + `"`, "negative": "-" + n, "with a plus": "+" + n,
			"with a leading zero": "0" + n, "minus zero": "-0", "in hex": "0x6b49d200", "NaN": "NaN", "Infinity": "Infinity", "true": "true", "an object": "{}", "past int64": "9223372036854775808",
			"past float64": "1" + strings.Repeat("0", 400), "1e400": "1e400", "of 16 digits": "1000000000000000", "with a space": " " + n, "with an underscore": n[:1] + "_" + n[1:],
		} {
			f.set(what, name, value)
		}
	}
	f.set("after exp", "nbf", "1900000000")
	f.set("before iat", "nbf", "1")
	f.set("zero", "iat", "0")
	f.set("before nbf", "exp", "1")
	f.set("more than a day later", "exp", "1800086401")
	f.set("in the year 292277026596", "exp", "999999999999999")
	f.identities()
	f.scopes()
	f.delegation()
	for _, n := range []string{"0", "1001", "-1", "5.0", "5e0", `"5"`, "4294967297", "18446744073709551617"} {
		f.set(n, "max_hydrations", n)
	}
	for _, m := range []string{"LIVE", "Live", "test", "", "live "} {
		f.set(fmt.Sprintf("%q", m), "mode", `"`+m+`"`)
	}
}

func (f *forge) identities() {
	f.set("two audiences", "aud", `["claude.anthropic.com","mcp.unihodl.app"]`)
	f.set("empty", "aud", `""`)
	f.set("of 513 bytes", "aud", `"`+strings.Repeat("a", 513)+`"`)
	f.set("true", "aud", "true")
	for _, iss := range []string{"https://attacker.example", "", "https://hodl.example/", "HTTPS://hodl.example", "https://hodl.example.attacker.example"} {
		f.set(fmt.Sprintf("%q", iss), "iss", `"`+iss+`"`)
	}
	for _, sub := range []string{"", "wks_1", "usr_1:wks_1", "wks_1:usr_1:usr_2", "wks_:usr_1", "wks_1:usr_", "wks_1:usr_*", "wks_1;usr_1", "wks_1:usr_1 ", "wks_" + strings.Repeat("1", 65) + ":usr_1", "wks_１:usr_1"} {
		f.set(fmt.Sprintf("%q", sub), "sub", `"`+sub+`"`)
	}
	for _, id := range []string{"", "rt_", "ses_1", "RT_1", "rt_a-b", "rt_../x", "rt_" + strings.Repeat("a", 65), "rt_1%00", "rt_é"} {
		f.set(fmt.Sprintf("%q", id), "jti", `"`+id+`"`)
	}
	for _, id := range []string{"", "ses_", "rt_1", "ses_1/../ses_2", "ses_*", "ses_ 1", "ses_" + strings.Repeat("a", 65)} {
		f.set(fmt.Sprintf("%q", id), "session_id", `"`+id+`"`)
	}
}

func (f *forge) scopes() {
	from := strings.Index(f.payload, `"scope":`)
	to := strings.Index(f.payload, `,"session_id":`)
	scope := f.payload[from:to]
	for name, value := range map[string]string{
		"absent": `"x":1`, "null": `"scope":null`, "empty": `"scope":[]`, "a string": `"scope":"read:context write:notes"`, "an object": `"scope":{"read:context":true}`,
		"repeated": `"scope":["read:context","read:context"]`, "unknown": `"scope":["read:context","read:all"]`, "a wildcard": `"scope":["*"]`, "in capitals": `"scope":["READ:CONTEXT"]`,
		"nested": `"scope":[["read:context"]]`, "with null": `"scope":["read:context",null]`, "with a number": `"scope":["read:context",1]`, "with a comma more": `"scope":["read:context",]`,
		"with a comma first": `"scope":[,"read:context"]`, "with a space": `"scope":["read:context", "read:reasoning"]`, "two in one": `"scope":["read:context read:reasoning"]`,
		"padded": `"scope":["read:context "]`, "escaped": `"scope":["read\u003acontext"]`, "a thousand": `"scope":["read:context"` + strings.Repeat(`,"read:context"`, 150) + `]`,
	} {
		f.claims("scope "+name, scope, value)
	}
	f.claims("write scope without nonce", ","+f.member("nonce"), "")
}

func (f *forge) delegation() {
	from := strings.Index(f.payload, `"act":`)
	to := strings.Index(f.payload, `,"cnf":`)
	act, cnf := f.payload[from:to], strings.TrimSuffix(f.payload[to+1:], "}")
	deep := strings.Repeat(`{"sub":"a","act":`, 4) + `{"sub":"a"}` + strings.Repeat("}", 4)
	deeper := strings.Repeat(`{"sub":"a","act":`, 130) + `{"sub":"a"}` + strings.Repeat("}", 130)
	for name, value := range map[string]string{
		"five deep": deep, "131 deep": deeper, "null": "null", "a string": `"a"`, "a list": `[{"sub":"a"}]`, "empty": "{}", "without sub": `{"act":{"sub":"a"}}`, "with an empty sub": `{"sub":""}`,
		"with another member": `{"sub":"a","iss":"b"}`, "with sub twice": `{"sub":"a","sub":"b"}`, "act before sub": `{"act":{"sub":"b"},"sub":"a"}`, "with a NUL": `{"sub":"a\u0000"}`, "a number as sub": `{"sub":1}`, "a list as sub": `{"sub":["a"]}`,
		"with a null act": `{"sub":"a","act":null}`, "with an empty act": `{"sub":"a","act":{}}`, "with a list of acts": `{"sub":"a","act":[{"sub":"b"}]}`, "with act twice": `{"sub":"a","act":{"sub":"b"},"act":{"sub":"c"}}`,
		"with ACT": `{"sub":"a","ACT":{"sub":"b"}}`, "with spaces": `{"sub":"a", "act":{"sub":"b"}}`, "with a sub_profile": `{"sub":"a","sub_profile":"ai_agent"}`, "with a sub of 513 bytes": `{"sub":"` + strings.Repeat("a", 513) + `"}`, "never closed": `{"sub":"a"`,
	} {
		f.claims("act "+name, act, `"act":`+value)
	}
	jkt := strings.TrimSuffix(strings.TrimPrefix(cnf, `"cnf":{"jkt":"`), `"}`)
	for name, value := range map[string]string{
		"null": "null", "empty": "{}", "a string": `"` + jkt + `"`, "jwk": `{"jwk":{"kty":"OKP"}}`, "jkt short": `{"jkt":"` + jkt[:42] + `"}`, "jkt long": `{"jkt":"` + jkt + `A"}`, "jkt padded": `{"jkt":"` + jkt[:42] + `="}`,
		"jkt with loose bits": `{"jkt":"` + loosen(jkt) + `"}`, "jkt in the other alphabet": `{"jkt":"` + jkt[:42] + `+"}`, "jkt and kid": `{"jkt":"` + jkt + `","kid":"x"}`, "jkt empty": `{"jkt":""}`, "jkt with a line end": `{"jkt":"` + strings.Repeat("A", 42) + "\n" + `"}`, "jkt null": `{"jkt":null}`,
	} {
		f.claims("cnf "+name, cnf, `"cnf":`+value)
	}
	for _, name := range []string{"delegator", "nonce"} {
		for what, value := range map[string]string{"null": "null", "empty": `""`, "a number": "1", "of 513 bytes": `"` + strings.Repeat("a", 513) + `"`} {
			f.set(what, name, value)
		}
	}
}

// texts writes the claims as another text, or as no JSON at all.
func (f *forge) texts() {
	aud := f.value("aud")
	in := func(inside string) string { return aud[:len(aud)-1] + inside + `"` }
	for name, value := range map[string]string{
		"a lone byte ff": in("\xff"), "an overlong slash": in("\xc0\xaf"), "half a rune": in("\xe2\x82"), "a surrogate in UTF-8": in("\xed\xa0\x80"), "beyond Unicode": in("\xf4\x90\x80\x80"),
		"an escaped NUL": in(`\u0000`), "a raw NUL": in("\x00"), "a raw line end": in("\n"), "an escaped line end": in(`\n`), "a raw tab": in("\t"), "DEL": in("\x7f"), "a lone escaped surrogate": in(`\ud800`),
		"an escaped letter": in(`\u0061`), "an escaped slash": in(`\/`), "an unknown escape": in(`\x`), "half an escape": aud[:len(aud)-1] + `\"`, "single quotes": "'" + aud[1:len(aud)-1] + "'", "no quotes": aud[1 : len(aud)-1],
	} {
		f.set("with "+name, "aud", value)
	}
	for name, payload := range map[string]string{
		"a byte order mark": "\ufeff" + f.payload, "a space in front": " " + f.payload, "a space after": f.payload + " ", "a line end after": f.payload + "\n", "a brace more": f.payload + "}", "a second object": f.payload + f.payload,
		"a NUL after": f.payload + "\x00", "garbage after": f.payload + "x", "a brace less": f.payload[:len(f.payload)-1], "a comma more": strings.TrimSuffix(f.payload, "}") + ",}", "a comment": "/**/" + f.payload,
		"spaces inside": strings.ReplaceAll(f.payload, ",", ", "), "a list": "[" + f.payload + "]", "a string": `"` + strings.ReplaceAll(f.payload, `"`, `\"`) + `"`, "nothing": "", "an empty object": "{}", "null": "null", "true": "true",
		"a number": "1", "UTF-16": string(utf16(f.payload)), "a thousand brackets": strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "a nested token": f.good, "form values": "aud=claude.anthropic.com&exp=9999999999",
	} {
		f.signed("text: "+name, f.Seal(f.header, payload))
	}
	f.signed("text: iss moved to the end", f.Seal(f.header, strings.TrimSuffix(replace(f.payload, f.member("iss")+",", ""), "}")+","+f.member("iss")+"}"))
	long := strings.Repeat("a", 512) // as long as a text may be
	wide := replace(replace(f.payload, f.member("aud"), `"aud":"`+long+`"`), f.member("delegator"), `"delegator":"`+long+`"`)
	wide = replace(replace(wide, f.member("nonce"), `"nonce":"`+long+`"`), f.member("redaction_policy"), `"redaction_policy":"`+long+`"`)
	f.signed("text: larger than 4 KB by claims that are not too long each", f.Seal(f.header, replace(wide, f.member("mode")+`,"act":{"sub":"`, f.member("mode")+`,"act":{"sub":"`+long[:480])))
	late := replace(replace(f.payload, f.member("iat"), `"iat":253402300799`), f.member("nbf"), `"nbf":253402300799`)
	f.signed("claims: times past the year 9999", f.Seal(f.header, replace(late, f.member("exp"), `"exp":253402300800`)))
	f.signed("text: larger than 4 KB by one claim", f.Seal(f.header, replace(f.payload, f.value("nonce"), `"`+strings.Repeat("n", 3000)+`"`)))
}
