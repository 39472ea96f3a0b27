package secret

import (
	"iter"
	"regexp"
	"strings"
	"sync"
)

// rule is what a secret of one kind looks like.
type rule struct {
	name    string
	word    string // what it begins with
	pattern string // what follows; a first group is kept, and so is a second, which ends it
	end     string // ends it, however far away; where there is none, rest is what follows
	rest    string
	inside  bool // may follow a letter or digit
	// fits, where there is one, says whether the value at from is a secret: many are assigned that are none.
	fits func(text []byte, from, to int) bool

	re, endRe, restRe func() *regexp.Regexp
}

// rules by their first byte. An expression is compiled when its word is first met: few ever are.
var rules = sync.OnceValue(func() (by [256][]*rule) {
	for _, r := range allRules() {
		r.re, r.endRe, r.restRe = compiled("^(?:"+r.pattern+")"), compiled(r.end), compiled("^(?:"+r.rest+")")
		by[r.word[0]] = append(by[r.word[0]], &r)
	}
	return by
})

func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func allRules() []rule {
	const (
		key = `[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`
		// Of a key without its end: what may stand around its lines, its headers, and its lines.
		junk = `[\s"'+\\nr,;#*|>/]*`
		cut  = `(?:["'+, ]{0,8}(?:\r?\n|\\n|\\r\\n)[ \t"'#*|>/]{0,40}[A-Z][A-Za-z-]{2,20}: [^\n\\]{0,100}){0,6}` +
			`(?:` + junk + `[A-Za-z0-9+/=]{16,}|\s*(?:\n|\\n)` + junk + `[A-Za-z0-9+/=]{8,})+`
		quote = "[\"'`]"
		aws   = `(["']?\s*[:=]+\s*["']?)[A-Za-z0-9/+]{40}`
		// None of the parts can hold what the next begins with, so that no text takes more than linear time.
		login = `([^\s/?#:@"'<>]*:)[^\s/?#@"'<>]+(@)`
		// A private key in base64, as a kubeconfig has it; certificates begin otherwise.
		pem = `(?:SU0Eg|QUklWQVRF|FQyBQUklW|PUEVOU1NI|FTkNSWVBU|EU0EgUFJJ)[A-Za-z0-9+/=]+`
		jwt = `[A-Za-z0-9]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}`
	)
	list := []rule{
		{name: "private-key", word: "-----BEGIN ", pattern: key, end: "-----END " + key, rest: cut, inside: true},
		{name: "aws-secret-key", word: "aws_secret_access_key", pattern: aws},
		{name: "aws-secret-key", word: "AWS_SECRET_ACCESS_KEY", pattern: aws},
		{name: "aws-secret-key", word: "ecretAccessKey", pattern: aws, inside: true},
		{name: "azure-storage-key", word: "AccountKey=", pattern: `[A-Za-z0-9+/]{86}==`},
		{name: "azure-shared-key", word: "SharedAccessKey=", pattern: `[A-Za-z0-9+/%]{40,}={0,2}`, inside: true},
		{name: "azure-signature", word: "sig=", pattern: `[A-Za-z0-9+/%]{40,}={0,2}`},
		{name: "aws-access-key", word: "AKIA", pattern: `[A-Z0-9]{16}\b`},
		{name: "aws-access-key", word: "ASIA", pattern: `[A-Z0-9]{16}\b`},
		{name: "aws-access-key", word: "ABIA", pattern: `[A-Z0-9]{16}\b`},
		{name: "aws-access-key", word: "ACCA", pattern: `[A-Z0-9]{16}\b`},
		{name: "discord-webhook", word: "/api/webhooks/", pattern: `([0-9]+/)[A-Za-z0-9_-]{40,}`, inside: true},
		{name: "private-key", word: "LS0tLS1CRUdJTiB", pattern: pem, inside: true},
		{name: "1password-token", word: "ops_eyJ", pattern: `[A-Za-z0-9+/=_-]{60,}`},
		{name: "paypal-token", word: "access_token$", pattern: `[a-z]+\$[a-z0-9]{16}\$[a-f0-9]{32}`},
		{name: "hubspot-token", word: "pat-", pattern: `[a-z]{2}[0-9]-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}`},
		{name: "airtable-token", word: "pat", pattern: `[A-Za-z0-9]{14}\.[a-f0-9]{64}`},
		{name: "resend-key", word: "re_", pattern: `[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}`},
		{name: "slack-webhook", word: "hooks.slack.com/services/", pattern: `T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]+`},
		{name: "slack-token", word: "xox", pattern: `[abcdeoprs]-[A-Za-z0-9%-]{10,}`},
		{name: "google-api-key", word: "AIza", pattern: `[A-Za-z0-9_-]{35}`},
		{name: "npm-token", word: "npm_", pattern: `[A-Za-z0-9]{36}`},
		{name: "pypi-token", word: "pypi-AgE", pattern: `[A-Za-z0-9_-]{50,}`},
		{name: "sendgrid-key", word: "SG.", pattern: `[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`},
		{name: "jwt", word: "eyJ", pattern: jwt},
		{name: "password-in-url", word: "://", pattern: login, inside: true},
		{name: "age-key", word: "AGE-SECRET-KEY-1", pattern: `[A-Z0-9]{50,}`},
		{name: "1password-key", word: "A3-", pattern: `[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}`},
		{name: "artifactory-token", word: "cmVmd", pattern: `[A-Za-z0-9]{59}`},
		{name: "aws-access-key", word: "A3T", pattern: `[A-Z0-9]{17}\b`},
		{name: "alibaba-key", word: "LTAI", pattern: `[A-Za-z0-9]{20}`},
		{name: "cloudflare-origin-key", word: "v1.0-", pattern: `[a-f0-9]{24}-[a-f0-9]{100,}`},
		{name: "dropbox-token", word: "sl.", pattern: `[A-Za-z0-9_=-]{100,}`},
		{name: "duffel-token", word: "duffel_", pattern: `(?:test|live)_[A-Za-z0-9_=-]{43}`},
		{name: "flutterwave-key", word: "FLWSECK_TEST-", pattern: `[a-zA-Z0-9]{12}`},
		{name: "gitlab-token", word: "GR1348941", pattern: `[A-Za-z0-9_-]{20}`},
		{name: "session-cookie", word: "_gitlab_session=", pattern: `()[a-z0-9]{32}`},
		{name: "grafana-key", word: "eyJrIjoi", pattern: `[A-Za-z0-9=]{70,}`},
		{name: "hugging-face-token", word: "api_org_", pattern: `[A-Za-z]{34}`},
		{name: "teams-webhook", word: "webhook.office.com/webhookb2/", pattern: `[^\s"'<>]{60,}`, inside: true},
		{name: "octopus-deploy-key", word: "API-", pattern: `[A-Z0-9]{26}\b`},
		{name: "sendgrid-key", word: "SG.", pattern: `[A-Za-z0-9_=-]{66}`},
		{name: "sidekiq-key", word: "contribsys__com", pattern: `([a-z_]{0,20}["'\]]*\s?[:=]\s?["']?)[A-Fa-f0-9]{8}:[A-Fa-f0-9]{8}`, inside: true},
		{name: "sourcegraph-token", word: "sgp_", pattern: `(?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40}`},
		{name: "yandex-token", word: "t1.", pattern: `[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}`},
	}
	for _, c := range "0123456789abcdefABCDEF" {
		list = append(list, rule{name: "twilio-key", word: "SK" + string(c), pattern: `[0-9a-fA-F]{31}\b`})
		if c <= '9' { // three characters into a client's secret
			list = append(list, rule{name: "azure-client-secret", word: string(c) + "Q~", pattern: `[A-Za-z0-9_.~-]{31,34}`,
				inside: true})
		}
	}
	for _, services := range []struct{ words, tail string }{
		{"github-token: ghp_ gho_ ghu_ ghs_ ghr_", `[A-Za-z0-9]{36,}`},
		{"stripe-key: sk_live_ rk_live_ sk_test_ rk_test_", `[A-Za-z0-9]{16,}`},
		{"groq-key: gsk_ shopify-token: shpat_ shpca_ shppa_ shpss_ linear-token: lin_api_ lin_oauth_", `[A-Za-z0-9]{20,}`},
		{"replicate-token: r8_ hugging-face-token: hf_ notion-token: ntn_ grafana-token: glsa_", `[A-Za-z0-9]{30,}`},
		{"github-token: github_pat_", `[A-Za-z0-9_]{22,}`},
		{"openai-or-anthropic-key: sk- xai-key: xai- google-client-secret: GOCSPX- docker-token: dckr_pat_ dckr_oat_ " +
			"vault-token: hvs. hvb. hvr. perplexity-key: pplx- nvidia-key: nvapi- figma-token: figd_ slack-token: xapp- " +
			"gitlab-token: glpat- glrt- gldt- glptt-", `[A-Za-z0-9_-]{20,}`},
		{"atlassian-token: ATATT ATCTT bitbucket-password: ATBB sentry-token: sntrys_", `[A-Za-z0-9_=-]{20,}`},
		{"google-token: ya29. tailscale-key: tskey-", `[A-Za-z0-9._-]{20,}`},
		{"webhook-secret: whsec_", `[A-Za-z0-9+/=_-]{20,}`},
		{"databricks-token: dapi digitalocean-token: dop_v1_ doo_v1_ dor_v1_ supabase-token: sbp_ pulumi-token: pul- " +
			"mailgun-key: key- rubygems-key: rubygems_", `[A-Fa-f0-9]{32,}`},
		{"postman-key: PMAK-", `[A-Za-z0-9]{24}-[A-Fa-f0-9]+`},
		{"gitlab-token: gloas- glcbt- glagent- glsoat- glft- glimt- glffct-", `[A-Za-z0-9_-]{20,}`},
		{"frame-io-token: fio-u- scalingo-token: tk-us-", `[A-Za-z0-9_=-]{48,}`},
		{"harness-key: pat. sat.", `[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`},
		{"infracost-key: ico- settlemint-token: sm_aat_ sm_pat_ sm_sat_", `[A-Za-z0-9]{16,}`},
		{"42-secret: s-s4t2ud- s-s4t2af-", `[A-Fa-f0-9]{64}`},
		{"readme-key: rdme_", `[a-z0-9]{70}`},
		{"authress-key: sc_ ext_ scauth_ authress_", `[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}`},
	} {
		for name, word := range named(services.words) {
			list = append(list, rule{name: name, word: word, pattern: services.tail})
		}
	}
	const assigned = `["'\]]*(?:\s{1,3}value)?\s{0,3}(?:=>|[:?]=|[:=])\s{0,3}` + quote + `?`
	for _, a := range []struct {
		name, words, pattern string
		fits                 func(text []byte, from, to int) bool
	}{
		{"authorization-header", "uthorization UTHORIZATION", `(["'\])]*\s*[:=,]\s*[a-z]?` + quote +
			`?\s*(?i:bearer|basic|token|bot|api-?key)\s+)[A-Za-z0-9+/=._~-]{8,}`, isCredential},
		{"authorization-header", "uthorization UTHORIZATION", `(["'\])]*\s*[:=,]\s*` + quote + `?)[A-Za-z0-9+/=._~-]{20,}`, isRandom},
		{"signature-in-url", "ignature=", `()[A-Za-z0-9%+/=_-]{32,}`, isRandom},
		{"session-cookie", "ookie:", `(\s*[A-Za-z0-9_.-]{1,40}=)[^\s;"']{20,}`, isRandom},
		{"password-in-url", "://", `()[A-Za-z0-9_-]{20,}@`, isRandom},
		{"telegram-token", ":AA", `()[A-Za-z0-9_-]{33}\b`, isRandom}, // Telegram's, behind a number
		{"password", "--password", `([ =]+["']?)[^\s"']{4,}`, isPassword},
		{"password", "assword> asswd> ecret> oken>", `()[^\s<>"']{6,}`, isPassword},
		{"authorization-header", "earer EARER asic", `(\s+)[A-Za-z0-9+/=._~-]{16,}`, isRandom},
		{"password", "PASSWORD PASSWD PASSPHRASE _PASS _PWD _pass _pwd Pwd Password password Passwd passwd Passphrase passphrase",
			`(` + assigned + `)[^\s"'=` + "`" + `]{4,}={0,2}`, isPassword},
		{"assigned-key", "api_key apikey api-key apiKey Api-Key ApiKey API_KEY APIKEY API-KEY access_key accessKey AccessKey ACCESS_KEY " +
			"private_key privateKey PrivateKey PRIVATE_KEY account_key accountKey AccountKey ACCOUNT_KEY subscription_key " +
			"subscriptionKey Subscription-Key SUBSCRIPTION_KEY encryption_key encryptionKey ENCRYPTION_KEY encryption-key " +
			"auth_key auth-key authKey Auth-Key AUTH_KEY session_key sessionKey SESSION_KEY master_key masterKey MASTER_KEY " +
			"storage_key storageKey STORAGE_KEY signing_key " +
			"signingKey SIGNING_KEY secret Secret SECRET token Token TOKEN credential Credential CREDENTIAL",
			`([A-Za-z0-9_-]{0,24}` + assigned + `)[A-Za-z0-9_+/~!@#$%^&*-]{15,}={0,2}`, isRandom},
	} {
		for word := range strings.FieldsSeq(a.words) {
			list = append(list, rule{name: a.name, word: word, pattern: a.pattern, inside: true, fits: a.fits})
		}
	}
	// Beginnings that are also those of names: what follows must be made by chance.
	for name, word := range named("grafana-token: glc_ clickhouse-key: 4b1d sentry-token: sntryu_ posthog-key: phx_ pinecone-key: pcsk_ jina-key: jina_ service-key: cpk_ sk_prod_ ddp_ " +
		"cerebras-key: csk- tavily-key: tvly- openai-session: sess- fireworks-key: fw_ together-key: tgp_v1_ " +
		"langsmith-key: lsv2_pt_ lsv2_sk_ ls__ firecrawl-key: fc- fly-token: flyv1_ fm2_ fo1_ vercel-token: vcp_ vercel_ " +
		"netlify-token: nfp_ render-key: rnd_ typeform-token: tfp_ neon-key: napi_ supabase-key: sb_secret_ " +
		"planetscale-token: pscale_tkn_ pscale_pw_ pscale_oauth_ doppler-token: dp.pt. dp.st. dp.sa. dp.ct. " +
		"new-relic-key: NRAK- NRII- contentful-token: CFPAT- heroku-key: HRKU- easypost-key: EZAK EZTK " +
		"dynatrace-token: dt0c01. shippo-token: shippo_live_ square-token: sq0csp- sq0atp- EAAA " +
		"facebook-token: EAAC instagram-token: IGQV firebase-key: APA91b flutterwave-key: FLWSECK- " +
		"razorpay-key: rzp_live_ brevo-key: xkeysib- xsmtpsib- amazon-mws-token: amzn.mws. " +
		"bedrock-key: ABSK bedrock-api-key- tencent-key: AKID volcengine-key: AKLT " +
		"artifactory-token: AKCp yandex-key: AQVN clojars-token: CLOJARS_ nuget-key: oy2 crates-token: cio " +
		"sonarqube-token: squ_ sqp_ sqa_ buildkite-token: bkua_ circleci-token: CCIPAT_ adobe-secret: p8e- " +
		"bitbucket-token: BBDC- openshift-token: sha256~ prefect-key: pnu_ apify-token: apify_api_ notion-token: secret_ " +
		"google-refresh-token: 1//0") {
		list = append(list, rule{name: name, word: word, pattern: `()[A-Za-z0-9_-]{14,}`, fits: isChance})
	}
	const user = `(["']?[A-Za-z0-9_.@-]{1,64}:)[^\s"']{4,}` // curl's
	return append(list, rule{name: "password", word: "-u ", pattern: user, inside: true, fits: isPassword},
		rule{name: "password", word: "--user ", pattern: user, inside: true, fits: isPassword},
		rule{name: "terraform-token", word: ".atlasv1.", pattern: `[A-Za-z0-9_-]{40,}`, inside: true})
}

// named gives the words of a list, each with the name before it, which ends in a colon.
func named(list string) iter.Seq2[string, string] {
	return func(yield func(name, word string) bool) {
		name := ""
		for word := range strings.FieldsSeq(list) {
			if called, ok := strings.CutSuffix(word, ":"); ok {
				name = called
			} else if !yield(name, word) {
				return
			}
		}
	}
}
