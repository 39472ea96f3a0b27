package rank

const whatChanged = "what changed"

// formalNames are the names and titles of pages about the project rather than what it makes, with commas between. A
// page without a section is left out.
var formalNames = []struct{ section, reason, words string }{
	{Optional, "instructions for agents", "agents,claude,gemini,copilot instructions"},
	{Optional, "how to change the code",
		"contributing,contribute,hacking,development,developing,contribution guide"},
	{Optional, whatChanged, "changelog,changes,change log,history,news,releases,release notes,what's new"},
	{Optional, "how to upgrade", "upgrading,upgrade,migration,migrating,upgrade guide,migration guide"},
	{Optional, "how to report vulnerabilities", "security,security policy"},
	{"", "about the people, not the product",
		"authors,contributors,maintainers,credits,thanks,sponsors,backers,governance," +
			"code of conduct,conduct,user contract,patents,notice,project charter,charter,committers,owners," +
			"support,funding,bug bounty,collaborator guide,triager guide,triage guide,collaborators,meetings"},
	{"", "about the project's own work", "todo,roadmap,style guide,release,release checklist,releasing," +
		"release process,readme guide,issue template," +
		"pull request template,translations,testing,benchmarks,install issues"},
	{"", "about its users", "users,who uses,adopters,projects using,showcase,ecosystem,links,awesome"},
}

// titleWords tell by the title where a page belongs.
var titleWords = []struct{ section, words string }{
	{secDocs, "getting started,get started,quick start,quickstart,installation,installing,introduction,overview"},
	{secTutorials,
		"tutorial,walkthrough,how to,howto,how-to,cookbook,recipes,step by step,your first,lesson," +
			"exercise,workshop"},
	{secConfiguration,
		"configuration,configuring,config,configure,settings,environment variables,command line options," +
			"command-line options,options"},
	{secOperations,
		"deployment,deploying,deploy,docker,kubernetes,production,monitoring,operations,operating," +
			"troubleshooting," +
			"troubleshoot,scaling,backup,hosting,observability,metrics,high availability,runbook,debugging"},
	{secConcepts,
		"architecture,concept,core concepts,internals,design,how it works,faq,frequently asked questions," +
			"glossary," +
			"philosophy,rationale,principles,theory,background,specification,protocol,lifecycle,life cycle," +
			"data model"},
	{secAPI, "api,reference,api reference"},
}

// weakWords say what a page is about only where they stand alone: "file operations" are none of operators.
var weakWords = []string{
	"operations", "options", "metrics", "settings", "design", "protocol", "background", "reference",
}

// openings are what the pages are called that a newcomer begins with.
var openings = []struct {
	points int
	words  []string
}{
	{60, []string{"getting started", "get started", "quick start", "quickstart", "first steps"}},
	{50, []string{"introduction", "overview", "user guide", "tutorial", "basics", "basic usage"}},
	{44, []string{"installation", "installing", "core concepts", "usage", "guide to"}},
	{30, []string{"concepts", "architecture", "design", "guide", "reference", "api"}},
}

// namelessTitles are headings that every README may have.
var namelessTitles = []string{
	"", "readme", "read me", "introduction", "overview", "table of contents", "contents", "installation",
	"install", "about", "usage", "getting started", "features", "description", "what is this", "synopsis",
	"quick start", "quickstart", "name", "title", "documentation", "license", "summary",
}

// sayingVerbs stand between the name of a thing and what it is or does.
var sayingVerbs = []string{
	" is an ", " is a ", " is the ", " is ", " provides ", " implements ", " lets ", " allows ", " helps ",
	" makes ", " sends ", " contains ", " adds ", " turns ", " offers ", " brings ", " enables ", " reads ",
	" parses ", " generates ", " runs ", " serves ", " builds ", " supports ", " aims ",
}

// ownSubjects stand for the name.
var ownSubjects = []string{
	"this package", "this library", "this project", "this module", "this tool", "this repository", "this crate",
	"this gem", "package ", "it", "the library", "the project",
}

// kindNouns say what sort of thing is spoken of.
var kindNouns = []string{
	"library", "framework", "toolkit", "tool", "server", "client", "parser", "compiler", "engine", "package",
	"module", "plugin", "command", "cli", "sdk", "api", "database", "implementation", "language", "runtime",
	"generator", "utility", "platform", "application", "app", "validation", "router", "logger", "editor",
	"multiplexer", "interpreter", "driver", "crate", "gem", "interface", "collection", "bindings", "wrapper",
	"processor", "store", "queue", "proxy", "template", "clone", "replacement", "extension", "converter",
	"alternative", "dsl", "orm", "mapper", "middleware", "shell", "manager", "linter", "formatter", "bundler",
	"component", "system", "service", "binding", "builder", "macro", "types", "hooks", "finder", "viewer", "player",
	"serializer", "encoder", "decoder", "scheduler", "scanner", "crawler", "daemon", "agent", "monitor", "dashboard",
	"book", "course", "chart", "specification", "kernel", "toolchain", "polyfill", "emulator", "simulator", "game",
	"program", "renderer", "bot", "theme", "suite", "protocol", "abstraction", "helper", "processing", "functions", "solution", "bindings",
}

// phraseEnds end the part of a noun phrase that names a thing; phraseStarts begin one that has no such end. Before a
// finite verb stands the subject of a sentence.
var phraseEnds = []string{
	" for ", " with ", " to ", " that ", " which ", " of ", " in ", " on ", " from ", " written ", " built ", " based ",
	" by ", " using ",
}

var finiteVerbs = []string{" is ", " are ", " was ", " has ", " have ", " will ", " can ", " does ", " do "}

var phraseStarts = []string{
	"a ", "an ", "the ", "fast", "simple", "small", "modern", "lightweight", "yet another ", "tiny", "minimal",
	"high-performance", "powerful", "extensible", "portable",
}

// advising words tell a reader what to do or to expect; orders begin sentences that do.
var advising = []string{
	" you'll ", " you will ", " you can ", " you may ", " you need", " you must ", " you should ", " you changed ",
	" must ", " should ", " have to ", " need to ", " will not ", " won't ", " we ", " we're ", " our ", " is required",
	" are required", " to us", " or later", " or newer", " don't ",
}

var orders = []string{
	"if ", "when ", "before ", "after ", "for more", "for guides", "to get ", "to use ", "to start ", "to learn ",
	"begin by", "make sure", "note ", "see ", "read ", "visit ", "check ", "use ", "add ", "run ", "download ",
	"in order to", "below ", "there ", "here ", "every ", "each ", "all ", "has ", "have ", "is ", "can ",
}

// distracting speak of something else than the purpose.
var distracting = []string{
	"install", "npm ", "pip ", "apt-get", "deprecated", "documentation is", "click ", "sponsor", "follow ",
	"announc", "thank", "welcome to", "changelog", "release", "see the", "this is the documentation",
	"this is the source", "this is the repo", "this is the home", "this is the official repo",
	"this is the readme", "this is the development", "please", "github.com", "http://", "https://",
	"your support", "star ", "issue", "pull request", "git clone", "master branch", "main branch",
	"unmaintained", "here is", "the following", "below", "you can find", "translation", "docs for",
	"work in progress", "copyright", "licensed under", "distributed as", "badge", "ask questions",
	"stackoverflow", "mailing list", "chat room", "if you find",
}

// praises say nothing.
var praises = []string{
	"blazing", "awesome", "world-class", "revolution", "super fast", "game-chang", "🚀", "⭐", "cutting-edge",
}

// aroundFolders at the top hold what builds, tests or carries the product, not the product.
var aroundFolders = []string{
	"build", "buildsrc", "build-logic", "build-support", "build-tools", "build_tools", "tools", "tool", "scripts",
	"script", "hack", "ci", "dev", "contrib", "extra", "extras", "misc", "support", "etc", "packaging", "debian",
}

// aroundWords are parts of such names: okio-testing-support, Frob.TestConsole.
var aroundWords = []string{
	"testing", "testkit", "testutil", "testutils", "testsupport", "testconsole", "benchmark", "benchmarks", "bom",
	"playground", "sandbox", "internal",
}

// privateFolders are those that others are not to look into.
var privateFolders = []string{
	"internal", "internals", "private", "priv", "impl", "detail", "details", "_internal", "_impl",
}

// foreignFolders hold what others made, what measures, or what is written into other places: never the product.
var foreignFolders = []string{
	"bench", "benchmark", "benchmarks", "jmh", "fuzz", "deps", "extern", "external", "3rdparty", "thirdparty",
	"embeddedlibraries", "compat", "polyfill", "polyfills", "shims", "docset", "docsets", "stubs", "generators",
	"skeleton", "skeletons", "sample_plugin",
}

// helperNames are the stems of files of small helpers.
var helperNames = []string{
	"helpers", "helper", "functions", "util", "utils", "utilities", "utility", "misc", "common", "constants", "globals", "shims",
	"polyfills", "compat",
}
