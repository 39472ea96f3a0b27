package scan

import (
	"bytes"
	"path"
	"strings"
)

// isSecretName tells the files that are there to hold secrets, so that they need
// not even be opened.
func isSecretName(file string) bool {
	name := strings.ToLower(path.Base(file))
	switch name {
	case ".env", ".netrc", "_netrc", ".pypirc", ".htpasswd", ".git-credentials",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519":
		return true
	case "credentials":
		return inFolder(file, ".aws")
	case "config.json":
		return inFolder(file, ".docker")
	}
	switch path.Ext(name) {
	case ".p12", ".pfx", ".jks", ".keystore":
		return true
	case ".example", ".sample", ".template", ".dist":
		return false
	}
	return strings.HasPrefix(name, ".env.") || strings.HasPrefix(name, "terraform.tfstate")
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
