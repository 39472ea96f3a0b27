package render

import (
	"regexp"
	"strings"
	"sync"
)

// shape is what a secret of one kind looks like.
type shape struct {
	word    string // what the shape begins with
	pattern string // what follows; a first group is kept, and so is a second, which ends it
	end     string // ends the shape, however far away; where there is none, rest is what follows
	rest    string
	inside  bool // may follow a letter or digit
	// fits, where there is one, says whether the value at from is a secret: many are assigned that are none.
	fits func(text []byte, from, to int) bool

	re, endRe, restRe func() *regexp.Regexp
}

// shapes by their first byte. An expression is compiled when its word is first met: few ever are.
var shapes = sync.OnceValue(func() (by [256][]*shape) {
	for _, s := range allShapes() {
		s.re, s.endRe, s.restRe = compiled("^(?:"+s.pattern+")"), compiled(s.end), compiled("^(?:"+s.rest+")")
		by[s.word[0]] = append(by[s.word[0]], &s)
	}
	return by
})

func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func allShapes() []shape {
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
	list := []shape{
		{word: "-----BEGIN ", pattern: key, end: "-----END " + key, rest: cut, inside: true},
		{word: "aws_secret_access_key", pattern: aws},
		{word: "AWS_SECRET_ACCESS_KEY", pattern: aws},
		{word: "ecretAccessKey", pattern: aws, inside: true},
		{word: "AccountKey=", pattern: `[A-Za-z0-9+/]{86}==`},
		{word: "SharedAccessKey=", pattern: `[A-Za-z0-9+/%]{40,}={0,2}`, inside: true},
		{word: "sig=", pattern: `[A-Za-z0-9+/%]{40,}={0,2}`},
		{word: "7Q~", pattern: `[A-Za-z0-9_.~-]{31,34}`, inside: true}, // three characters into a client's secret of Azure
		{word: "8Q~", pattern: `[A-Za-z0-9_.~-]{31,34}`, inside: true},
		{word: "AKIA", pattern: `[A-Z0-9]{16}\b`},
		{word: "ASIA", pattern: `[A-Z0-9]{16}\b`},
		{word: "ABIA", pattern: `[A-Z0-9]{16}\b`},
		{word: "ACCA", pattern: `[A-Z0-9]{16}\b`},
		{word: "/api/webhooks/", pattern: `([0-9]+/)[A-Za-z0-9_-]{40,}`, inside: true},
		{word: "LS0tLS1CRUdJTiB", pattern: pem, inside: true},
		{word: "ops_eyJ", pattern: `[A-Za-z0-9+/=_-]{60,}`},
		{word: "access_token$", pattern: `[a-z]+\$[a-z0-9]{16}\$[a-f0-9]{32}`},
		{word: "pat-", pattern: `[a-z]{2}[0-9]-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}`},
		{word: "pat", pattern: `[A-Za-z0-9]{14}\.[a-f0-9]{64}`},
		{word: "re_", pattern: `[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}`},
		{word: "hooks.slack.com/services/", pattern: `T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]+`},
		{word: "xox", pattern: `[abcdeoprs]-[A-Za-z0-9%-]{10,}`},
		{word: "AIza", pattern: `[A-Za-z0-9_-]{35}`},
		{word: "npm_", pattern: `[A-Za-z0-9]{36}`},
		{word: "pypi-AgE", pattern: `[A-Za-z0-9_-]{50,}`},
		{word: "SG.", pattern: `[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`},
		{word: "eyJ", pattern: jwt},
		{word: "://", pattern: login, inside: true},
		{word: "AGE-SECRET-KEY-1", pattern: `[A-Z0-9]{50,}`},
	}
	for _, kind := range []struct{ words, tail string }{
		{"ghp_ gho_ ghu_ ghs_ ghr_", `[A-Za-z0-9]{36,}`},
		{"sk_live_ rk_live_ sk_test_ rk_test_", `[A-Za-z0-9]{16,}`},
		{"gsk_ shpat_ shpca_ shppa_ shpss_ lin_api_ lin_oauth_", `[A-Za-z0-9]{20,}`},
		{"r8_ hf_ ntn_ glsa_", `[A-Za-z0-9]{30,}`},
		{"github_pat_", `[A-Za-z0-9_]{22,}`},
		{"sk- xai- GOCSPX- dckr_pat_ dckr_oat_ hvs. hvb. hvr. pplx- nvapi- figd_ xapp- glpat- " +
			"glrt- gldt- glptt-", `[A-Za-z0-9_-]{20,}`},
		{"ATATT ATCTT ATBB sntrys_", `[A-Za-z0-9_=-]{20,}`},
		{"ya29. tskey-", `[A-Za-z0-9._-]{20,}`},
		{"whsec_", `[A-Za-z0-9+/=_-]{20,}`},
		{"dapi dop_v1_ doo_v1_ dor_v1_ sbp_ pul- key- rubygems_", `[a-f0-9]{32,}`},
		{"PMAK-", `[A-Za-z0-9]{24}-[a-f0-9]+`},
	} {
		for word := range strings.FieldsSeq(kind.words) {
			list = append(list, shape{word: word, pattern: kind.tail})
		}
	}
	const assigned = `["'\]]*(?:\s{1,3}value)?\s{0,3}(?:=>|[:?]=|[:=])\s{0,3}` + quote + `?`
	for _, a := range []struct {
		words, pattern string
		fits           func(text []byte, from, to int) bool
	}{
		{"uthorization UTHORIZATION", `(["'\])]*\s*[:=,]\s*[a-z]?` + quote +
			`?\s*(?i:bearer|basic|token|bot|api-?key)\s+)[A-Za-z0-9+/=._~-]{8,}`, isCredential},
		{"uthorization UTHORIZATION", `(["'\])]*\s*[:=,]\s*` + quote + `?)[A-Za-z0-9+/=._~-]{20,}`, isRandom},
		{"ignature=", `()[A-Za-z0-9%+/=_-]{32,}`, isRandom},
		{"ookie:", `(\s*[A-Za-z0-9_.-]{1,40}=)[^\s;"']{20,}`, isRandom},
		{"://", `()[A-Za-z0-9_-]{20,}@`, isRandom},
		{":AA", `()[A-Za-z0-9_-]{33}\b`, isRandom}, // Telegram's, behind a number
		{"--password", `([ =]+["']?)[^\s"']{4,}`, isPassword},
		{"assword> asswd> ecret> oken>", `()[^\s<>"']{6,}`, isPassword},
		{"earer EARER asic", `(\s+)[A-Za-z0-9+/=._~-]{16,}`, isRandom},
		{"PASSWORD PASSWD PASSPHRASE _PASS _PWD _pass _pwd Pwd Password password Passwd passwd Passphrase passphrase",
			`(` + assigned + `)[^\s"'=` + "`" + `]{4,}={0,2}`, isPassword},
		{"api_key apikey api-key apiKey Api-Key ApiKey API_KEY APIKEY API-KEY access_key accessKey AccessKey ACCESS_KEY " +
			"private_key privateKey PrivateKey PRIVATE_KEY account_key accountKey AccountKey ACCOUNT_KEY subscription_key " +
			"subscriptionKey Subscription-Key SUBSCRIPTION_KEY encryption_key encryptionKey ENCRYPTION_KEY encryption-key " +
			"auth_key auth-key authKey Auth-Key AUTH_KEY session_key sessionKey SESSION_KEY master_key masterKey MASTER_KEY " +
			"storage_key storageKey STORAGE_KEY signing_key " +
			"signingKey SIGNING_KEY secret Secret SECRET token Token TOKEN credential Credential CREDENTIAL",
			`([A-Za-z0-9_-]{0,24}` + assigned + `)[A-Za-z0-9_+/~!@#$%^&*-]{16,}={0,2}`, isRandom},
	} {
		for word := range strings.FieldsSeq(a.words) {
			list = append(list, shape{word: word, pattern: a.pattern, inside: true, fits: a.fits})
		}
	}
	// Beginnings that are also those of names: what follows must be made by chance.
	for word := range strings.FieldsSeq("glc_ gloas- glcbt- glagent- glsoat- glft- glimt- sntryu_ phx_ pcsk_ jina_ cpk_ " +
		"csk- tvly- sess- fw_ tgp_v1_ lsv2_pt_ lsv2_sk_ ls__ fc- flyv1_ fm2_ fo1_ vcp_ vercel_ nfp_ rnd_ tfp_ napi_ " +
		"sb_secret_ pscale_tkn_ pscale_pw_ pscale_oauth_ dp.pt. dp.st. dp.sa. dp.ct. NRAK- NRII- CFPAT- HRKU- EZAK EZTK dt0c01. " +
		"shippo_live_ sk_prod_ sq0csp- sq0atp- EAAA EAAC IGQV APA91b FLWSECK- FLWSECK_TEST- rzp_live_ xkeysib- " +
		"xsmtpsib- amzn.mws. ABSK bedrock-api-key- LTAI AKID AKLT AKCp AQVN CLOJARS_ oy2 cio squ_ sqp_ sqa_ " +
		"bkua_ CCIPAT_ p8e- BBDC- sha256~ ddp_ pnu_ apify_api_ secret_ 1//0") {
		list = append(list, shape{word: word, pattern: `()[A-Za-z0-9_-]{14,}`, fits: isChance})
	}
	const user = `(["']?[A-Za-z0-9_.@-]{1,64}:)[^\s"']{4,}` // curl's
	return append(list, shape{word: "-u ", pattern: user, inside: true, fits: isPassword},
		shape{word: "--user ", pattern: user, inside: true, fits: isPassword},
		shape{word: ".atlasv1.", pattern: `[A-Za-z0-9_-]{40,}`, inside: true})
}
