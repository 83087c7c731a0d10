package detect

import (
	"slices"
	"strings"
)

// Rules lists every rule there is, by id.
func Rules() []*Rule {
	out := slices.Clone(registry)
	slices.SortFunc(out, func(a, b *Rule) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// RulesVersion changes whenever the same text and policy may give other spans.
const RulesVersion = 3

var registry []*Rule

func rule(id, typ, label, reason, source string) *Rule {
	r := &Rule{ID: id, Type: typ, Label: label, Reason: reason, Source: source}
	registry = append(registry, r)
	labels[label] = true
	return r
}

// PolicyRule makes a rule that no scan finds, for what a policy removes by itself.
func PolicyRule(id, typ, label, reason string) *Rule {
	return rule(id, typ, label, reason, "the policy")
}

// Credentials by where they stand.
var (
	rulePassword   = rule("assignment.password", "secret.password", "PASSWORD", "the value of a password", "names of settings")
	ruleSecret     = rule("assignment.secret", "secret.secret", "SECRET", "the value of a secret", "names of settings")
	ruleToken      = rule("assignment.token", "secret.token", "TOKEN", "the value of a token", "names of settings")
	ruleKey        = rule("assignment.key", "secret.key", "KEY", "the value of a key", "names of settings")
	ruleCredential = rule("assignment.credential", "secret.credential", "CREDENTIAL", "the value of a credential", "names of settings")
	ruleFlag       = rule("command.password", "secret.password", "PASSWORD", "a password on a command line", "manuals of the commands")
	ruleUserPass   = rule("command.user_password", "secret.password", "PASSWORD", "a user and a password on a command line", "curl(1), docker(1)")
	ruleNear       = rule("context.random", "secret.token", "TOKEN", "a random value beside the name of a credential or a service", "names of services")
	ruleBasic      = rule("header.basic", "secret.basic", "CREDENTIAL", "credentials of HTTP Basic authentication", "RFC 7617")
	ruleBearer     = rule("header.bearer", "secret.bearer", "TOKEN", "a token of HTTP Bearer authentication", "RFC 6750")
	rulePEM        = rule("key.pem", "secret.private_key", "PRIVATE_KEY", "a private key", "RFC 7468")
	ruleJWT        = rule("token.jwt", "secret.jwt", "JWT", "a JSON Web Token", "RFC 7519")
	ruleHash       = rule("hash.password", "secret.password_hash", "PASSWORD_HASH", "the hash of a password", "crypt(5), hashcat")
	ruleNetrc      = rule("file.netrc", "secret.password", "PASSWORD", "a password of a .netrc file", "netrc(5)")
	ruleSeed       = rule("assignment.mnemonic", "secret.mnemonic", "MNEMONIC", "the words of a wallet", "BIP 39")
	ruleDiscord    = rule("token.discord_bot", "secret.token", "DISCORD_TOKEN", "a token of a Discord bot", "the service's documentation")
	ruleAzure      = rule("token.azure_client", "secret.token", "AZURE_SECRET", "a client secret of Entra", "the service's documentation")
	ruleTelegram   = rule("token.telegram_bot", "secret.token", "TELEGRAM_TOKEN", "a token of a Telegram bot", "the service's documentation")
	ruleMailchimp  = rule("token.mailchimp_api", "secret.token", "MAILCHIMP_KEY", "a key of Mailchimp", "the service's documentation")
	ruleUnknown    = rule("token.unknown", "secret.token", "TOKEN", "a prefix and a random value, as tokens are made", "common practice")
	ruleEncoded    = rule("encoded.base64", "secret.encoded", "SECRET", "base64 of text that holds a secret", "RFC 4648")
)

// Credentials in addresses.
var (
	ruleUserinfo = rule("url.userinfo", "secret.password", "PASSWORD", "a password in an address", "RFC 3986 §3.2.1")
	ruleQuery    = rule("url.query", "secret.url_parameter", "TOKEN", "a sensitive parameter of an address", "OpenTelemetry, HAR sanitizers")
	ruleFragment = rule("url.fragment", "secret.url_fragment", "TOKEN", "a token in the fragment of an address", "RFC 6749 §4.2.2")
	rulePath     = rule("url.path", "secret.url_path", "TOKEN", "a part of a path that gives access to who knows it", "common practice")
	ruleSession  = rule("url.session", "secret.url_session", "SESSION", "a session id in an address", "Servlet 6.0 §7.1.3")
	ruleAnyQuery = rule("url.any_query", "pii.url_parameter", "PARAMETER", "a parameter of an address that is not known to be harmless", "the policy")
	ruleAnyHash  = rule("url.any_fragment", "pii.url_fragment", "FRAGMENT", "a fragment of an address that is no place in a page", "the policy")
	ruleWebhook  = rule("url.webhook", "secret.webhook", "WEBHOOK", "the secret part of a webhook's address", "the services' documentation")
)

// Personal data.
var (
	ruleEmail  = rule("person.email", "pii.email", "EMAIL", "an email address", "RFC 5322")
	rulePhone  = rule("person.phone", "pii.phone", "PHONE", "a phone number", "ITU-T E.164")
	ruleCard   = rule("person.card", "pii.card", "CARD", "a payment card number", "ISO/IEC 7812, Luhn")
	ruleIBAN   = rule("person.iban", "pii.iban", "IBAN", "a bank account number", "ISO 13616")
	ruleIP     = rule("person.ip", "pii.ip", "IP", "an internet address", "RFC 4291, RFC 791")
	ruleMAC    = rule("person.mac", "pii.mac", "MAC", "a hardware address", "IEEE 802")
	ruleWallet = rule("person.wallet", "pii.wallet", "WALLET", "a wallet address", "Base58Check, BIP 173, EIP-55")
	ruleSSN    = rule("person.us_ssn", "pii.us_ssn", "SSN", "a social security number", "SSA RM 10201")
)
