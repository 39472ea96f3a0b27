package rank_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// The README's own line installs, if it names the project and is no placeholder.
func TestOtherInstalls(t *testing.T) {
	for _, test := range []struct{ repo, code, want string }{
		{"frob", "helm repo add o https://o.example/charts\nhelm repo update\nhelm install frob o/frob", "helm repo add o https://o.example/charts && helm install frob o/frob"},
		{"frob", "$ brew install o/tap/frob", "brew install o/tap/frob"},
		{"frob", "brew install frobnicate", ""},
		{"frob", "brew install --HEAD frob", ""},
		{"frob", "brew tap o/tap\nbrew install frob", "brew tap o/tap && brew install frob"},
		{"frob", "dotnet add package frob --version 1.2.3", "dotnet add package frob"},
		{"frob", "helm install frob oci://ghcr.io/o/frob --version 1.2.3", "helm install frob oci://ghcr.io/o/frob"},
		{"frob", `id("io.frob.frob") version "1.0.3"`, `id("io.frob.frob") version "1.0.3"`},
		{"frob", "sudo apt -y install frob\nbrew install frob", ""},
		{"frob", "compile 'org.o:frob:1.2'", "org.o:frob:1.2"},
		{"frob", "dotnet tool install --global Frob", "dotnet tool install --global Frob"},
		{"frob", "{:frob, \"~> 1.2\"}", "{:frob, \"~> 1.2\"}"},
		{"frob", ".package(url: \"https://github.com/o/frob.git\", from: \"1.2.0\"),", ".package(url: \"https://github.com/o/frob.git\", from: \"1.2.0\")"},
		{"frob", "implementation(\"org.o:frob:1.2\")", "implementation(\"org.o:frob:1.2\")"},
		{"frob", "implementation(\"org.o:frob:$version\")", ""},
		{"frob", "<dependency>\n  <groupId>org.o</groupId>\n  <artifactId>frob</artifactId>\n  <version>1.2</version>\n</dependency>", "org.o:frob:1.2"},
		{"frob", "<groupId>org.o</groupId>\n<artifactId>frob</artifactId>\n<version>VERSION</version>", ""},
		{"terraform-aws-vpc", "module \"vpc\" {\n  source = \"o/vpc/aws\"\n}", "source = \"o/vpc/aws\""},
		{"terraform-provider-frob", "source = \"o/frob\"", "source = \"o/frob\""},
		{"terraform-aws-vpc", "source = \"../..\"", ""},
		{"frob", "npm install frob@version", ""},
	} {
		index := build(t, "-- README.md --\n# Frob\n\n```\n"+test.code+"\n```\n", scan.Origin{Host: "github.com", Owner: "o", Repo: test.repo}, rank.Options{})
		got := ""
		for _, f := range index.Facts {
			if f.Name == "Install" {
				got = f.Value
			}
		}
		if test.want != "" {
			test.want = "`" + test.want + "`"
		}
		if got != test.want {
			t.Errorf("%s, %q: %q, want %q", test.repo, test.code, got, test.want)
		}
	}
}
