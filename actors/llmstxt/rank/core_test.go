package rank_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

// section gives the paths of a section, or the titles of links to lines.
func section(index *rank.Index, name string) string {
	for line := range strings.Lines(outline(index)) {
		if rest, ok := strings.CutPrefix(line, name+": "); ok {
			return strings.TrimSuffix(rest, "\n")
		}
	}
	return ""
}

// TestTheCoreStandsBeforeItsBuild defends "okio lists build support instead of Buffer".
func TestTheCoreStandsBeforeItsBuild(t *testing.T) {
	var b strings.Builder
	b.WriteString(`
-- settings.gradle.kts --
rootProject.name = "frob-parent"
include(":frob", ":frob-testing-support", ":build-support")
-- frob/build.gradle.kts --
-- frob-testing-support/build.gradle.kts --
-- build-support/build.gradle.kts --
-- build-support/src/main/kotlin/Platforms.kt --
/** Makes source sets for all the platforms. */
class Platforms { fun makeAll() {} }
-- frob-testing-support/src/commonMain/kotlin/frob/Clock.kt --
package frob
/** A clock that tests of frob set by hand. */
class Clock { fun set() {} }
-- frob/src/commonMain/kotlin/frob/Buffer.kt --
package frob
/** A collection of widgets in memory. */
expect class Buffer { fun turn() }
-- frob/src/jvmMain/kotlin/frob/Buffer.kt --
package frob
/** Widgets in the memory of a virtual machine. */
actual class Buffer { actual fun turn() {} }
-- frob/src/commonMain/kotlin/frob/internal/Segments.kt --
package frob.internal
/** Holds the parts of a buffer together. */
internal class Segments { fun join() {} }
`)
	for i := range 6 {
		fmt.Fprintf(&b, "-- frob/src/commonMain/kotlin/frob/Widget%[1]c.kt --\npackage frob\n/** Turns on the side of %[1]c. */\n"+
			"class Widget%[1]c { fun turn(b: Buffer) {} }\n", 'A'+i)
	}
	index := build(t, b.String(), scan.Origin{Repo: "frob"}, rank.Options{})
	if got := section(index, "Packages"); !strings.HasPrefix(got, "frob/src/commonMain/kotlin/frob/Buffer.kt ") {
		t.Errorf("Buffer does not stand for the package: %s", got)
	}
	if got := section(index, "API"); !strings.HasPrefix(got, "Buffer ") {
		t.Errorf("Buffer is not the first of the API: %s", got)
	}
	got := section(index, "Source")
	for _, no := range []string{"jvmMain", "internal", "build-support", "testing-support"} {
		if strings.Contains(got, no) {
			t.Errorf("%s is listed: %s", no, got)
		}
	}
}

// TestFamiliesAreOne defends "axum lists Either8 instead of Router".
func TestFamiliesAreOne(t *testing.T) {
	var b strings.Builder
	b.WriteString("-- Cargo.toml --\n[workspace]\nmembers = [\"frob\", \"frob-extra\", \"frob-core\"]\n" +
		"-- frob/Cargo.toml --\n[package]\nname = \"frob\"\n-- frob-extra/Cargo.toml --\n[package]\nname = \"frob-extra\"\n" +
		"-- frob-core/Cargo.toml --\n[package]\nname = \"frob-core\"\n-- frob-core/src/lib.rs --\n//! The core of widgets.\n" +
		"-- frob/src/lib.rs --\n//! Frob turns widgets.\nmod routing;\npub use crate::routing::Router;\n" +
		"-- frob/src/routing/mod.rs --\n//! Ways of widgets.\n/// The router of all widgets.\npub struct Router;\n" +
		"-- frob-extra/src/lib.rs --\n//! More for widgets.\npub mod either;\n-- frob-extra/src/either.rs --\n//! Sides of widgets.\n")
	for i := 2; i < 9; i++ {
		fmt.Fprintf(&b, "/// Combines %d sides into a single one.\npub enum Either%d {}\n", i, i)
	}
	got := section(build(t, b.String(), scan.Origin{Host: "github.com", Owner: "x", Repo: "frob",
		Remote: "https://github.com/x/frob", Commit: "c0ffee"}, rank.Options{}), "API")
	if !strings.HasPrefix(got, "Router ") || strings.Count(got, "Either") != 1 {
		t.Error(got)
	}
}

// TestPackagesAreMetByTheirTypes defends "laravel lists helpers instead of Application".
func TestPackagesAreMetByTheirTypes(t *testing.T) {
	index := build(t, `
-- composer.json --
{"name":"frob/framework","autoload":{"files":["src/Frob/Support/helpers.php"],"psr-4":{"Frob\\":"src/Frob/"}}}
-- src/Frob/Support/composer.json --
{"name":"frob/support","autoload":{"files":["helpers.php"]}}
-- src/Frob/Support/helpers.php --
<?php
/** Turns a widget in a hurry. */
function turn() {}
-- src/Frob/Support/Str.php --
<?php
namespace Frob\Support;
class Str { public static function after() {} public static function before() {} }
-- src/Frob/Routing/composer.json --
{"name":"frob/routing","description":"The Frob Routing package."}
-- src/Frob/Routing/Router.php --
<?php
namespace Frob\Routing;
use Frob\Support\Str;
class Router { public function add() { return Str::after(); } public function match() {} }
-- src/Frob/Routing/Url.php --
<?php
namespace Frob\Routing;
class Url { public function of() {} }
`, scan.Origin{}, rank.Options{})
	if got := section(index, "Packages"); got != "src/Frob/Routing/Router.php src/Frob/Support/Str.php" {
		t.Error(got)
	}
	hold(t, index, map[string]string{"src/Frob/Support/Str.php": "`after`, `before`", "Router": "`add`, `match`"})
}

// TestWhatIsNotOfTheProductIsLeftOut lists what an llms.txt never links where there is enough of the product.
func TestWhatIsNotOfTheProductIsLeftOut(t *testing.T) {
	var b strings.Builder
	b.WriteString("-- package.json --\n{\"name\":\"frob\",\"main\":\"src/index.js\"}\n-- src/index.js --\nexport * from './a.js'\n")
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		fmt.Fprintf(&b, "-- src/%[1]s.js --\n/** Turns the %[1]s side of widgets. */\nexport function %[1]sTurn() { return '%[1]s' }\n", name)
	}
	other := []string{"benchmarks/turn.js", "src/compat/old.js", "src/generators/frob/templates/new.js", "stubs/app.js",
		"external/zip.js", "tools/release.js", "src/polyfills/map.js", "fuzzing/turn.js", "single_include/turn.js"}
	for _, p := range other {
		fmt.Fprintf(&b, "-- %[1]s --\n/** Says something of %[1]s. */\nexport function turn() { return '%[1]s' }\n", p)
	}
	got := outline(build(t, b.String(), scan.Origin{}, rank.Options{}))
	for _, p := range other {
		if strings.Contains(got, p) {
			t.Errorf("%s is listed:\n%s", p, got)
		}
	}
	if !strings.Contains(got, "src/e.js") {
		t.Error(got)
	}
}

// TestNamesMeanTheNearestFile defends that of two files of one name the one nearest to the root is known to be used.
func TestNamesMeanTheNearestFile(t *testing.T) {
	index := build(t, `
-- mix.exs --
defmodule Frob.MixProject do
  def project, do: [app: :frob]
end
-- lib/supervisor.ex --
defmodule Supervisor do
  def start(x), do: x
end
-- lib/task/supervisor.ex --
defmodule Task.Supervisor do
  def start(x), do: x
end
-- lib/agent.ex --
defmodule Agent do
  def start(x), do: Supervisor.start(x)
end
`, scan.Origin{}, rank.Options{})
	if got := find(index, "lib/supervisor.ex").Reasons; !slices.Contains(got, "used by 2 files") {
		t.Errorf("reasons %q", got)
	}
}

// TestPlacesOfRepeatsGoToOthers defends that no file takes a second place where a section is full.
func TestPlacesOfRepeatsGoToOthers(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "-- lib/part%02d.rb --\n# Turns the widgets of shelf %d around.\nclass Part%02d\n  def turn; end\nend\n", i, i, i)
	}
	index := build(t, b.String(), scan.Origin{}, rank.Options{})
	linked := make(map[string]bool)
	for _, s := range index.Sections {
		for _, l := range s.Links {
			linked[l.Path] = true
		}
	}
	if len(linked) != 30 {
		t.Errorf("%d of 30 files are linked:\n%s", len(linked), outline(index))
	}
}

// TestInitialsNameAClass defends "the core before its helpers" where the core is Grape::API of api.rb.
func TestInitialsNameAClass(t *testing.T) {
	index := build(t, `
-- README.md --
# Frob

Frob is a framework for turning widgets.

    class Turner < Frob::API; end
-- lib/frob.rb --
module Frob
end
-- lib/frob/api.rb --
module Frob
  # The class that turners inherit from.
  class API
  end
end
-- lib/frob/anvil.rb --
module Frob
  # Holds a widget while it turns.
  class Anvil
  end
end
-- test/turner_test.rb --
class Turner < Frob::API
end
`, scan.Origin{Repo: "frob"}, rank.Options{})
	if got := outline(index); !strings.Contains(got, "API: Frob::API Frob::Anvil\n") {
		t.Error(got)
	}
}
