package detect

// ibanSizes is the length of an account number by country (ISO 13616 registry).
var ibanSizes = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22,
	"CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22,
	"GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30,
	"KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20,
	"MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22,
	"RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

// iban reads an account number that starts at i, in one piece or in groups.
func (s *scanner) iban(i int) {
	if !is(s.at(i), letter) || !is(s.at(i+1), letter) || !is(s.at(i+2), digit) || !is(s.at(i+3), digit) || is(s.at(i-1), alnum) {
		return
	}
	country := [2]byte{s.text[i] &^ 0x20, s.text[i+1] &^ 0x20}
	want := ibanSizes[string(country[:])]
	if want == 0 {
		return
	}
	var b [34]byte
	n, end := 0, i
	for ; end < len(s.text) && n < want; end++ {
		c := s.text[end]
		if is(c, alnum) {
			if is(c, lower) {
				c &^= 0x20
			}
			b[n] = c
			n++
		} else if c != ' ' && c != '-' || !is(s.at(end+1), alnum) {
			return
		}
	}
	if n == want && !is(s.at(end), alnum) && mod97(b[:n]) {
		s.add(i, end, ruleIBAN)
	}
}

func mod97(b []byte) bool {
	r := 0
	for i := range b {
		c := b[(i+4)%len(b)]
		if is(c, digit) {
			r = (r*10 + int(c-'0')) % 97
		} else {
			r = (r*100 + int(c-'A') + 10) % 97
		}
	}
	return r == 1
}

// wallet reads an address of a coin: Base58Check, Bech32, or hex after 0x.
func (s *scanner) wallet(start, end int) {
	v := s.text[start:end]
	switch {
	case len(v) <= 35 && (v[0] == '1' || v[0] == '3') && base58Check(v),
		len(v) > 38 && len(v) < 64 && (v[:3] == "bc1" || v[:3] == "tb1" || v[:3] == "BC1") && bech32(v),
		len(v) == 42 && v[:2] == "0x" && shapeOf(v[2:]).hex == 40 && varied(v[2:]) && s.labelNear(start, "wallet"):
		s.add(start, end, ruleWallet)
	}
}
