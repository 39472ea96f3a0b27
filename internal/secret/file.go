package secret

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// IsFile reports whether a file is made to hold secrets, by its path alone.
func IsFile(file string) bool {
	name := strings.ToLower(path.Base(file))
	switch ext := path.Ext(name); {
	case is("name", name), is("extension", ext), is("path", path.Base(path.Dir(file))+"/"+name):
		return true
	case is("word of an example", strings.TrimPrefix(ext, ".")):
		return false
	}
	return strings.HasPrefix(name, ".env.") || strings.HasPrefix(name, "terraform.tfstate") || keepsSecrets(name)
}

// keepsSecrets recognizes data that is named secrets or credentials, such as config/secrets.yml. Programs and
// documents with such names do not count.
func keepsSecrets(name string) bool {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	if len(words) < 2 {
		return false
	}
	has := func(what string) bool { return slices.ContainsFunc(words, func(w string) bool { return is(what, w) }) }
	return is("data", words[len(words)-1]) && has("word") && !has("word of an example")
}

// InFile reports whether a file holds secrets that may but need not be in it, by its first bytes.
func InFile(file string, head []byte) bool {
	head = head[:min(len(head), 8<<10)]
	switch name := strings.ToLower(path.Base(file)); {
	case name == ".npmrc":
		return bytes.Contains(head, []byte("_auth")) || bytes.Contains(head, []byte("_password"))
	case strings.HasSuffix(name, ".pem"), strings.HasSuffix(name, ".key"):
		return bytes.Contains(head, []byte("PRIVATE KEY"))
	}
	return false
}

func is(what, name string) bool { return slices.Contains(fileNames[what], name) }

// fileNames are the names of files that hold secrets, in lower case.
var fileNames = map[string][]string{
	"name": strings.Fields(`.env .netrc _netrc .pypirc .htpasswd .git-credentials .pgpass .my.cnf .dockercfg .vault-token
		.vault_pass .s3cfg .boto master.key kubeconfig .secrets .secret application_default_credentials.json id_rsa id_dsa
		id_ecdsa id_ed25519`),
	"extension": strings.Fields(".p12 .pfx .jks .keystore .kdbx .ppk"),
	"path":      strings.Fields(".aws/credentials .docker/config.json"),
	// Data that has such a word in its name holds secrets, unless another word says that it is an example.
	"data":               strings.Fields("yml yaml json toml ini cfg conf properties env xml tfvars enc"),
	"word":               strings.Fields("secret secrets credential credentials"),
	"word of an example": strings.Fields("example sample template dist schema"),
}
