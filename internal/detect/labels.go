package detect

// A label is words that tell what number follows them, and what that number looks
// like. In a shape A is a letter, 9 a digit, * either; anything else is itself.
// Separators within a number do not count. A number whose shape is loose is found
// only right after its label.
type label struct {
	rule   *Rule
	kind   string // for looks that ask what label is near
	words  string
	shapes []string
	check  func(string) bool
}

func person(id, name, reason string) *Rule {
	return rule("person."+id, "pii."+id, name, reason, "the issuing authority")
}

var (
	ruleNational = person("national_id", "NATIONAL_ID", "a national identity number")
	rulePassport = person("passport", "PASSPORT", "the number of a passport")
	ruleDriver   = person("driver_licence", "DRIVER_LICENCE", "the number of a driving licence")
	ruleTax      = person("tax_id", "TAX_ID", "a tax number of a person")
	ruleHealth   = person("health_id", "HEALTH_ID", "the number of a health insurance")
	ruleVehicle  = person("vehicle", "VEHICLE", "the registration of a vehicle")
	ruleBank     = person("bank_account", "BANK_ACCOUNT", "the number of a bank account")
	ruleLicence  = person("professional_licence", "LICENCE", "the licence of a profession")
	ruleBirth    = person("date_of_birth", "BIRTHDAY", "a date of birth")
)

// shapes of numbers that several labels share.
var (
	eleven = []string{"99999999999"}
	nine   = []string{"999999999"}
)

var labelTable = []label{
	{ruleSSN, "ssn", "ssn;social security;socialsecurity;social_security;sozialversicherung", []string{"999999999", "99999999A999"}, func(v string) bool { return len(v) > 9 || validSSN([]byte(v)) }},
	{rulePhone, "phone", "phone;tél;mobile;telefon;téléphone;telephone;cell;tel:;tel.;fax;whatsapp;handy;móvil;movil;celular;cep tel;gsm;sms;teléfono;rufnummer;numero di telefono;cellulare;電話;전화;номер телефона;call me;contact number;contact no;dial;hotline;reach me;ring me;call us;text me;numara;msisdn;callback number;viber;numéro;portable;call back;callback;telepono;cep no;desk:;selular;handphone;telp;tlf;tfno;puhelin;mob:;mob.;ph:;ph.;puh;direct line;extension", nil, nil},
	{ruleWallet, "wallet", "wallet;ethereum;eth address;crypto;bitcoin;btc", nil, nil},
	{ruleTax, "itin", "itin;individual taxpayer", []string{"999999999"}, func(v string) bool { return v[0] == '9' }},
	{rulePassport, "passport", "passport;pasaporte;reisepass;passaporto;paspoort;passeport;passnummer;paszport;pasaport;паспорт;여권;旅券;passaporte;護照;护照;travel document;pass-nr;passinumero;passi;us passport", []string{"A99999999", "AA9999999", "AA999999", "999999999", "A9999999", "AAA999999", "A999A9999", "99AA99999", "*********", "99999999"}, hasDigit3},
	{ruleDriver, "driver", "driver;driving;licence number;führerschein;fuehrerschein;patente;permis de conduire;permiso de conducir;rijbewijs;prawo jazdy;운전면허;ehliyet;sürücü;carnet de conducir;cnh;dl number;dl#;dln;carta de condução", []string{"A9999999", "A99999999", "A999999999999", "A99999999999999", "AA9999999A", "AA9999999*", "99AA999999", "AAAAA999999AA9AA", "AAAAA999999A99AA", "AAAA*999999AA*AA", "999999999999", "A99999999999", "99999999", "999999999", "9999999", "**99999****", "U1*******A", "9999999999", "***********"}, hasDigit3},
	{ruleNational, "nino", "nino;national insurance;ni number;national-insurance", []string{"AA999999A", "AA999999"}, nil},
	{ruleHealth, "nhs", "nhs;national health", []string{"9999999999"}, nhs},
	{ruleVehicle, "vehicle", "vehicle;license plate;licence plate;number plate;plate;registration number;reg number;kennzeichen;matrícula;plaka;plaque;targa;nummernschild;kfz;rc number;immatriculation;car reg;vrn;vrm;reg no;reg plate", []string{"AA99AAA", "AA99AA9999", "AA99A9999", "*****", "******", "*******", "********", "*********", "**********", "AAA999", "AA99999", "A999AAA", "AAA999A", "99A9999", "99AA999", "99AAA99", "99AA9999", "99A99999", "AAA999AA", "99AAA999", "A99999", "AA9999", "99A999", "AAA9999", "A9AAA", "A99AAA", "AAA99A", "AAA9A", "99AA99", "99AAAA99", "99AA99AA", "9999AAA", "999AAA", "AA999AA", "99AAA9", "AAA99", "AA9999AA", "99A9999A"}, mixed},
	{ruleNational, "es", "dni;nif;nie;número de identidad;extranjero", []string{"99999999A", "A9999999A", "9999999A"}, nil},
	{ruleNational, "it", "codice fiscale;fiscal code;codicefiscale", []string{"AAAAAA99A99A999A", "AAAAAA**A**A***A"}, nil},
	{ruleNational, "it_card", "carta d'identità;carta di identità;carta d'identita;cie;identity card;id card;identitätskarte;personalausweis;ausweis;identiteitskaart;carte d'identité;cni;dowód;nüfus;id number;id no;id-nummer;ausweisnummer;identity number;identity no;identification number;government id;cédula;cedula;身份证;身分證;national identification;personal id;ktp;nik", []string{"AA99999AA", "AA9999999", "9999999AA", "*********", "**********", "***********", "************", "*************", "AA99999**", "99999999", "999999999999999999", "99999999999999999X"}, hasDigit4},
	{ruleNational, "fi", "henkilötunnus;hetu;tunnus;personbeteckning;finnish;henkilo", []string{"999999*999*", "999999999*"}, nil},
	{ruleNational, "se", "personnummer;pnr;swedish;samordningsnummer;personal number;personal identity number;fødselsnummer;fodselsnummer;cpr", []string{"999999999999", "9999999999", "99999999999"}, nil},
	{ruleNational, "pl", "pesel", eleven, func(v string) bool { return (weighted(v, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3)+int(v[10]-'0'))%10 == 0 }},
	{ruleNational, "tr", "tc kimlik;tckn;t.c.;kimlik;turkish;turkey national", eleven, func(v string) bool { return v[0] != '0' }},
	{ruleNational, "kr", "주민등록;주민;외국인등록;외국인;resident registration;rrn;frn;alien registration;foreigner registration;korean rrn", []string{"9999999999999"}, nil},
	{ruleNational, "th", "thai;บัตรประชาชน;เลขประจำตัว;tnin;เลขบัตร", []string{"9999999999999"}, nil},
	{ruleNational, "sg", "nric;fin:;fin ;singapore", []string{"A9999999A"}, func(v string) bool { return contains("STFGMstfgm", v[0]) }},
	{ruleNational, "in", "aadhaar;aadhar;uidai;आधार", []string{"999999999999"}, nil},
	{ruleTax, "in_pan", "pan ;pan:;pan_;pan,;permanent account", []string{"AAAAA9999A"}, nil},
	{ruleNational, "in_voter", "voter;epic;elector", []string{"AAA9999999", "A999999999", "AAA99999999"}, hasDigit4},
	{ruleNational, "ca", "sin:;sin ;sin,;social insurance;nas:;numéro d'assurance", nine, luhnText},
	{ruleTax, "au_tfn", "tfn;tax file", []string{"999999999", "99999999"}, nil},
	{ruleHealth, "au_medicare", "medicare;mbi", []string{"9999999999", "99999999999", "9A*9A*9AA99", "9***9**9**99", "9**99**9**99", "9A**9A**9AA99", "99999999999A", "9***A**AA99", "9****9****", "9A*9A*9**99", "9**9**9**99", "9XX9XX9XX99"}, nil},
	{ruleHealth, "de_health", "krankenversicher;versichertennummer;kvnr;health insurance;krankenkasse;kvr;krankenvers;gesundheitskarte;insurance number;insurance id;member id;carte vitale;tessera sanitaria;egk", []string{"A999999999", "9999999999", "AAA999999999", "A99999999", "999999999"}, nil},
	{ruleNational, "de_social", "rentenversicher;rvnr;sozialvers;rentenvers;svnr", []string{"99999999A999", "9999999999"}, nil},
	{ruleTax, "tax", "steuer-id;steueridentifikation;steuernummer;tax id;tax_id;idnr;tin:;tin ;taxpayer;tax number;tax identification;nif ;numéro fiscal;vat id;steuer;ust-id;ustid;ein ;cpf;rfc;curp;inn;инн;siren;partita iva;vat number;vat no;umsatzsteuer;fiscal number;utr", []string{"99999999999", "9999999999", "DE999999999", "999999999", "9999999999999", "AAAA999999AAAAAA99", "AAAA999999***", "999999999999", "AA999999999", "A99999999"}, nil},
	{ruleNational, "za", "south african id;za id;id_number;rsa id;sa id", []string{"9999999999999"}, luhnText},
	{ruleNational, "nl", "bsn;burgerservice;sofinummer", nine, func(v string) bool { return weighted(v, 9, 8, 7, 6, 5, 4, 3, 2, -1)%11 == 0 }},
	{ruleNational, "ng", "nin:;nin ;nin,;national identification number", eleven, nil},
	{ruleNational, "mx", "curp", []string{"AAAA999999AAAAAA99", "AAAA999999AAAAAA*9"}, nil},
	{ruleNational, "fr", "insee;numéro de sécurité;securite sociale;sécurité sociale;nir ", []string{"999999999999999", "9999999999999", "99999*999999999"}, nil},
	{ruleNational, "cz", "rodné číslo;rodne cislo;rodné", []string{"9999999999", "999999999"}, nil},
	{ruleNational, "ro", "cnp", []string{"9999999999999"}, nil},
	{ruleNational, "hk", "hkid;hong kong id", []string{"A9999999", "AA9999999", "A999999A"}, nil},
	{ruleNational, "generic", "national id;national_id;nationalid;citizen id;id nacional;mykad;nik:;egn;amka;oib;jmbg;ahv;avs;personal code;isikukood;kennitala;unified id;emirates id;national number;numero de identidad;documento;dpi;rut:;rut ", []string{"*********", "**********", "***********", "************", "*************", "99999999", "99999999*", "999999999999999", "9999999999999999", "9999999*"}, hasDigit4},
	{ruleBank, "bank", "account number;account no;acct;bank account;routing;aba;sort code;kontonummer;bank_account;acc no;numéro de compte;account #;bsb;clabe;rtn;ifsc;account_number;bank number;konto", []string{"999999999", "99999999", "9999999999", "99999999999", "999999999999", "9999999999999", "999999", "99999999999999999", "999999999999999999"}, nil},
	{ruleLicence, "medical", "dea;medical licen;medical cert;certificate number;licensed;prescriber", []string{"AA9999999", "A99999999"}, nil},
	{ruleBirth, "birth", "date of birth;dob;birth date;birth_date;birthdate;geburtsdatum;geboren am;born on;date_of_birth;dateofbirth;birthday;date de naissance;né le;née le;fecha de nacimiento;data di nascita;data de nascimento;geboortedatum;data urodzenia;doğum tarihi;födelsedatum;syntymäaika;дата рождения;生年月日;出生日期", nil, nil},
}

func mixed(v string) bool { sh := shapeOf(v); return sh.digits > 0 && sh.letters() > 0 }

func hasDigit3(v string) bool { return shapeOf(v).digits >= 3 }
func hasDigit4(v string) bool { return shapeOf(v).digits >= 4 }

func nhs(v string) bool {
	r := 11 - weighted(v, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11
	return r%11 == int(v[9]-'0') && r != 10
}
