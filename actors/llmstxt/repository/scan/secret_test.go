package scan_test

import (
	"testing"
	"testing/fstest"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"

func TestSecretsAreLeftOut(t *testing.T) {
	for name, text := range map[string]string{
		".env": "A=b\n", "web/.env": "A=b\n", ".ENV": "A=b\n", ".env.local": "A=b\n", ".env.production": "A=b\n",
		".netrc": "machine x\n", "_netrc": "machine x\n", ".pypirc": "[x]\n", ".htpasswd": "a:b\n",
		".npmrc":   "//r.example/:_authToken=x\n",
		"a/.npmrc": "//r.example/:_password=x\n",
		"id_rsa":   key, ".ssh/id_ed25519": key, "id_dsa": "x\n", "id_ecdsa": "x\n",
		"tls/server.key": key, "tls/server.pem": "-----BEGIN CERTIFICATE-----\nMIID\n" + key,
		"a.p12": "x\n", "a.pfx": "x\n", "a.jks": "x\n", "a.keystore": "x\n",
		"config/secrets.yml": "production: {}\n", "secrets.yaml": "a: b\n", "conf/secrets.prod.toml": "a = 1\n",
		"k8s/app-secret.yaml": "kind: Secret\n", "secrets.json": "{}\n", "credentials.json": "{}\n", "config/credentials.yml.enc": "x\n",
		"gcp_credentials.json": "{}\n", "db.secret.properties": "a=b\n", "config/master.key": "x\n", "secrets.auto.tfvars": "a = 1\n",
		".pgpass": "h:5432:d:u:p\n", ".my.cnf": "[client]\n", ".vault-token": "x\n", "kubeconfig": "users: []\n", ".secrets": "A=b\n",
		"vault.kdbx": "x\n", "key.ppk": "x\n", ".git-credentials": "https://a:b@x.example\n", ".aws/credentials": "[default]\n", "home/.docker/config.json": "{}\n",
		"terraform.tfstate": "{}\n", "infra/terraform.tfstate.backup": "{}\n",
	} {
		files := fstest.MapFS{name: {Data: []byte(text)}, ".lastwordignore": {Data: []byte("!*\n")}, "a.md": {Data: []byte("# A\n")}}
		repo, err := scan.Read(t.Context(), files, scan.Limits{}, nil)
		must(t, err)
		if got, want := paths(repo), ".lastwordignore a.md"; got != want {
			t.Errorf("%s: kept %s, want %s", name, got, want)
		}
		if got, want := left(repo), "may hold secrets: 1 files 0 folders, "+name; got != want {
			t.Errorf("%s: left out %s, want %s", name, got, want)
		}
	}
}

func TestWhatOnlyLooksSecretIsKept(t *testing.T) {
	for name, text := range map[string]string{
		".env.example": "A=\n", ".env.sample": "A=\n", ".env.template": "A=\n", ".env.dist": "A=\n", "example.env": "A=\n",
		".env.local.example": "A=\n", ".npmrc": "always-auth=true\n", "id_rsa.pub": "ssh-rsa AAAA\n",
		"ca.pem": "-----BEGIN CERTIFICATE-----\nMIID\n", "public.key": "-----BEGIN PUBLIC KEY-----\nMIIB\n",
		"docs/credentials": "x\n", "config.json": "{}\n", "keys.go": "package a\n\nconst head = \"PRIVATE KEY\"\n",
		"config/secrets.yml.example": "a: b\n", "config/secrets.example.yml": "a: b\n", "secrets.sample.json": "{}\n",
		"secrets.py": "x = 1\n", "secret.md": "# A\n", "src/secrets.go": "package a\n", "secretary.yml": "a: b\n", "docs/secrets.md": "# A\n",
		"environment.md": "# A\n", "terraform.tf": "x {}\n",
	} {
		repo, err := scan.Read(t.Context(), fstest.MapFS{name: {Data: []byte(text)}}, scan.Limits{}, nil)
		must(t, err)
		if got := paths(repo); got != name {
			t.Errorf("%s is left out: %s", name, left(repo))
		}
	}
}
