package rank_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// TestKindsOfRepositories shows what is linked of repositories that are no libraries, and what is not.
func TestKindsOfRepositories(t *testing.T) {
	for name, test := range map[string]struct{ archive, want, never string }{
		"a book, by its table of contents": {`
-- book.toml --
[book]
-- src/SUMMARY.md --
- [Start](start.md)
- [Windows](windows.md)
- [Joins](joins.md)
- [State](state.md)
-- src/joins.md --
# Joins
-- src/start.md --
# Start
-- src/state.md --
# State
-- src/windows.md --
# Windows
-- old/src/SUMMARY.md --
- [Start](start.md)
- [Windows](windows.md)
- [Joins](joins.md)
- [Ends](ends.md)
-- old/src/start.md --
# Start again
-- old/src/windows.md --
# Windows again
-- old/src/joins.md --
# Joins again
-- old/src/ends.md --
# Ends again
-- theme/head.js --
function head() {}
`, "Chapters: src/start.md src/windows.md src/joins.md src/state.md\n", "SUMMARY theme old/"},
		"books by the numbers of their chapters, each alike": {`
-- scope/ch1.md --
# One
-- scope/ch2.md --
# Two
-- scope/ch10.md --
# Ten
-- scope/ch3.md --
# Three
-- types/README.md --
# Types
-- types/toc.md --
# Contents
-- types/apA.md --
# More
-- types/ch1.md --
# 1
-- types/ch2.md --
# 2
-- types/ch3.md --
# 3
-- types/ch4.md --
# 4
`, "Chapters: scope/ch1.md scope/ch2.md scope/ch3.md scope/ch10.md types/README.md " +
			"types/ch1.md types/ch2.md types/ch3.md types/ch4.md types/apA.md\n", "toc"},
		"notebooks in their order": {`
-- 10_end.ipynb --
{"cells":[{"cell_type":"markdown","source":["# The end\n","\n","All there is."]}]}
-- 2_middle.ipynb --
{"cells":[{"cell_type":"markdown","source":"# The middle"}]}
-- 2_middle_solution.ipynb --
{"cells":[]}
-- z_old/2_middle.ipynb --
{"cells":[{"cell_type":"markdown","source":"# The middle as it was"}]}
`, "Notebooks: 2_middle.ipynb 10_end.ipynb\n", "solution z_old"},
		"notebooks in one language": {`
-- course/de/1_anfang.ipynb --
{"cells":[{"cell_type":"markdown","source":"# Der Anfang"}]}
-- course/en/1_begin.ipynb --
{"cells":[{"cell_type":"markdown","source":"# The beginning"}]}
-- course/en/2_end.ipynb --
{"cells":[{"cell_type":"markdown","source":"# The end"}]}
`, "Notebooks: course/en/1_begin.ipynb course/en/2_end.ipynb\n", "anfang"},
		"charts, an entry for each": {`
-- charts/a/Chart.yaml --
name: a
description: Runs the first of them
-- charts/a/values.yaml --
replicas: 2
image: {}
-- charts/a/templates/tests/t.yaml --
apiVersion: v1
kind: Pod
-- charts/b/Chart.yaml --
name: b
description: Runs the second of them
-- charts/b/README.md --
# b

Runs the second of them with all that it needs.
`, "Packages: charts/a/Chart.yaml charts/b/README.md\nConfiguration: charts/a/values.yaml\n", "tests"},
		"a collection of Ansible": {`
-- galaxy.yml --
namespace: x
name: y
-- roles/r/README.md --
# r

Installs a broker and keeps its configuration.
-- roles/r/tasks/main.yml --
- name: Install the broker
  package: {}
-- roles/r/defaults/main.yml --
port: 1
-- playbooks/site.yml --
- name: Install all
  hosts: all
`, "Packages: roles/r/README.md\nConfiguration: roles/r/defaults/main.yml galaxy.yml\nOperations: playbooks/site.yml\n" +
			"Source: roles/r/tasks/main.yml\n", ""},
		"a module of Terraform": {`
-- main.tf --
resource "a_b" "this" {
}
-- variables.tf --
variable "name" {
}
variable "zones" {
}
-- outputs.tf --
output "id" {
}
-- modules/m/main.tf --
resource "a_b" "m" {
}
-- wrappers/main.tf --
module "w" {
}
`, "Packages: modules/m/main.tf\nSource: variables.tf outputs.tf main.tf\n", "wrappers"},
		"infrastructure without code": {`
-- compose.yaml --
# Runs the shop on a laptop.
services: {}
-- nginx/nginx.conf --
events {}
-- monitoring/alerts.yml --
groups: []
-- k8s/shop.yaml --
apiVersion: v1
kind: Service
`, "Operations: compose.yaml k8s/shop.yaml monitoring/alerts.yml nginx/nginx.conf\n", ""},
		"a role at the root": {`
-- tasks/main.yml --
- name: Install the broker
  package: {}
-- defaults/main.yml --
port: 1
-- meta/main.yml --
galaxy_info: {}
-- vars/Alpine.yml --
package: broker
-- handlers/main.yml --
- name: Restart
`, "Configuration: defaults/main.yml meta/main.yml\nSource: tasks/main.yml\n", "Alpine handlers"},
		"an application of Rails": {`
-- config/routes.rb --
Rails.application.routes.draw do
end
-- app/controllers/issues_controller.rb --
class IssuesController < ApplicationController
  def index
    Issue.all
  end
end
-- app/controllers/news_controller.rb --
class NewsController < ApplicationController
  def show
    Issue.first
  end
end
-- app/models/issue.rb --
class Issue < ApplicationRecord
end
-- app/models/attachment.rb --
class Attachment < ApplicationRecord
end
`, "Wiring: config/routes.rb\nHandlers: app/controllers/issues_controller.rb app/controllers/news_controller.rb\n" +
			"Data: app/models/issue.rb app/models/attachment.rb\n", ""},
		"an application of Spring": {`
-- pom.xml --
<project><groupId>a</groupId><artifactId>shop</artifactId></project>
-- src/main/resources/application.properties --
a=b
-- src/main/java/a/Shop.java --
package a;

@SpringBootApplication
public class Shop {
}
-- src/main/java/a/CartController.java --
package a;

@Controller
class CartController {
}
-- src/main/java/a/Cart.java --
package a;

@Entity
public class Cart {
}
`, "Wiring: src/main/java/a/Shop.java src/main/resources/application.properties\n" +
			"Handlers: src/main/java/a/CartController.java\nData: src/main/java/a/Cart.java\n", ""},
		"a site of pages": {`
-- package.json --
{"name": "docs", "private": true}
-- docusaurus.config.js --
module.exports = {}
-- docs/intro.mdx --
# Introduction

What it is, and for whom it is good.
-- docs/_partials/note.mdx --
A note for all of the pages.
-- blog/launch.mdx --
# We launched

It is here.
-- versioned_docs/version-1/intro.mdx --
# Introduction to what was

What it was.
-- src/pages/index.js --
export default function Home() {}
`, "Docs: docs/intro.mdx\n", "blog versioned partials index.js"},
	} {
		index := build(t, test.archive, scan.Origin{}, rank.Options{})
		got := outline(index)
		for line := range strings.Lines(test.want) {
			if !strings.Contains("\n"+got, "\n"+line) {
				t.Errorf("%s: no line %sin\n%s", name, line, got)
			}
		}
		for word := range strings.FieldsSeq(test.never) {
			if strings.Contains(got, word) {
				t.Errorf("%s: links %s\n%s", name, word, got)
			}
		}
	}
}

// TestNotesOfWhatIsNoCode quotes what a file sets or does where it has no sentence of its own.
func TestNotesOfWhatIsNoCode(t *testing.T) {
	index := build(t, `
-- charts/a/Chart.yaml --
name: a
-- charts/a/values.yaml --
replicas: 2
image: {}
-- roles/r/tasks/main.yml --
- name: Install the broker
  package: {}
- name: Join the cluster
  command: join
-- 1.ipynb --
{"cells":[{"cell_type":"markdown","source":["# ARIMA\n","\n","Forecasts from the past of a series."]}]}
-- 2.ipynb --
{"cells":[{"cell_type":"code","source":"x = 1"}]}
-- 3.ipynb --
{"cells":[{"cell_type":"markdown","source":["**Chapter 3 – Trees**\n","\n","_Forecasts from the past of others._"]}]}
`, scan.Origin{}, rank.Options{})
	hold(t, index, map[string]string{
		"charts/a/values.yaml": "`replicas`, `image`", "1.ipynb": "Forecasts from the past of a series.",
		"roles/r/tasks/main.yml": "Install the broker · Join the cluster", "2.ipynb": "",
		"3.ipynb": "Forecasts from the past of others.",
	})
	if got := find(index, "3.ipynb").Title; got != "Chapter 3 – Trees" {
		t.Errorf("a notebook is titled %q", got)
	}
	hold(t, build(t, `
-- appsettings.json --
{}
-- Program.cs --
var app = Build();
-- Models/Item.cs --
public class Item
{
    public static readonly int Most = 5;
    public static string Check(string name) { return name; }
    public static async Task<string?> Encode(File file) { return null; }
}
-- Models/Order.cs --
public class Order { }
-- Models/Cart.cs --
public class Cart { }
`, scan.Origin{}, rank.Options{}), map[string]string{"Models/Item.cs": "", "Models/Cart.cs": ""})
}

// TestTitlesOfChaptersThatBeginWithTheBook takes the heading below where all chapters have one title.
func TestTitlesOfChaptersThatBeginWithTheBook(t *testing.T) {
	index := build(t, `
-- b/ch1.md --
# The Book

## Chapter 1: What *Is* It?
-- b/ch2.md --
# The Book

## Chapter 2: Scope
-- b/ch3.md --
# The Book

## Chapter 3: Types
-- b/ch4.md --
# The Book

## Chapter 4: Ends
`, scan.Origin{}, rank.Options{})
	if got := find(index, "b/ch1.md").Title; got != "Chapter 1: What Is It?" {
		t.Errorf("the title is %q", got)
	}
}

// TestEachPackageOfAWorkspaceHasALine lists more packages than a section has links, the one of the repository's name
// first.
func TestEachPackageOfAWorkspaceHasALine(t *testing.T) {
	var archive strings.Builder
	archive.WriteString("-- package.json --\n{\"name\": \"root\", \"private\": true, \"workspaces\": [\"p/*\"]}\n")
	for _, name := range append(strings.Split("abcdefghijklmnopqrstuvwxy", ""), "zoo", "eslint-config") {
		private := "false"
		if name == "eslint-config" {
			private = "true"
		}
		archive.WriteString("-- p/" + name + "/package.json --\n{\"name\": \"@zoo/" + name + "\", \"private\": " + private + "}\n")
	}
	index := build(t, archive.String(), scan.Origin{Owner: "x", Repo: "zoo"}, rank.Options{})
	if links := index.Sections[0].Links; len(links) != 26 || links[0].Title != "@zoo/zoo" {
		t.Errorf("%d packages, first %s", len(links), links[0].Title)
	}
}
