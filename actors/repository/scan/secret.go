package scan

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// isSecretName tells the files that are there to hold secrets, so that they need not even be opened.
func isSecretName(file string) bool {
	name := strings.ToLower(path.Base(file))
	switch ext := path.Ext(name); {
	case is("secret", name), is("secret extension", ext), name == "credentials" && inFolder(file, ".aws"),
		name == "config.json" && inFolder(file, ".docker"):
		return true
	case ext == ".example", ext == ".sample", ext == ".template", ext == ".dist":
		return false
	}
	return strings.HasPrefix(name, ".env.") || strings.HasPrefix(name, "terraform.tfstate") || keepsSecrets(name)
}

// keepsSecrets tells data that is called secrets or credentials, as config/secrets.yml. Programs and documents may be
// called so as well.
func keepsSecrets(name string) bool {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	if len(words) < 2 {
		return false
	}
	switch words[len(words)-1] {
	case "yml", "yaml", "json", "toml", "ini", "cfg", "conf", "properties", "env", "xml", "tfvars", "enc":
	default:
		return false
	}
	for _, shown := range []string{"example", "sample", "template", "dist", "schema"} {
		if slices.Contains(words, shown) {
			return false
		}
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return w == "secret" || w == "secrets" || w == "credential" || w == "credentials"
	})
}

func inFolder(file, folder string) bool { return path.Base(path.Dir(file)) == folder }

// hasSecret looks into the files that may hold secrets, but need not.
func hasSecret(name string, head []byte) bool {
	switch name = strings.ToLower(name); {
	case name == ".npmrc":
		return bytes.Contains(head, []byte("_auth")) || bytes.Contains(head, []byte("_password"))
	case strings.HasSuffix(name, ".pem"), strings.HasSuffix(name, ".key"):
		return bytes.Contains(head, []byte("PRIVATE KEY"))
	}
	return false
}
