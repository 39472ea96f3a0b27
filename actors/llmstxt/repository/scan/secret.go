package scan

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// HoldsSecrets reports whether a file is made to hold secrets, by its name or its first [HeadBytes]. Such files are
// not read.
func HoldsSecrets(file string, head []byte) bool {
	return isSecretName(file) || hasSecret(path.Base(file), head[:min(len(head), HeadBytes)])
}

// isSecretName recognizes files that are made to hold secrets, which need not even be opened.
func isSecretName(file string) bool {
	name := strings.ToLower(path.Base(file))
	switch ext := path.Ext(name); {
	case is("secret", name), is("secret extension", ext), is("secret path", path.Base(path.Dir(file))+"/"+name):
		return true
	case is("word for what is shown", strings.TrimPrefix(ext, ".")):
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
	return is("data", words[len(words)-1]) && has("secret word") && !has("word for what is shown")
}

// hasSecret looks into files that may hold secrets but need not.
func hasSecret(name string, head []byte) bool {
	switch name = strings.ToLower(name); {
	case name == ".npmrc":
		return bytes.Contains(head, []byte("_auth")) || bytes.Contains(head, []byte("_password"))
	case strings.HasSuffix(name, ".pem"), strings.HasSuffix(name, ".key"):
		return bytes.Contains(head, []byte("PRIVATE KEY"))
	}
	return false
}
