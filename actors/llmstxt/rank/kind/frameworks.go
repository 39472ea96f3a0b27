package kind

import "regexp"

// part is a sort of file that whole applications have, by its path or by what stands in it.
type part struct {
	section    string
	path, text *regexp.Regexp // text is nil where the path says enough
}

func in(section, path string) part { return part{section: section, path: regexp.MustCompile(path)} }

func (p part) with(text string) part {
	p.text = regexp.MustCompile(text)
	return p
}

// framework is told by a file that its applications have, and says where their parts are.
type framework struct {
	mark  *regexp.Regexp
	named bool // such an application may have the name of a package
	parts []part
}

var frameworks = []framework{{ // Rails
	mark: regexp.MustCompile(`^config/routes\.rb$`),
	parts: []part{
		in("Wiring", `^config/(routes|application|settings)\.(rb|yml)$`),
		in("Handlers", `^app/(controllers|channels|jobs|mailers)/\w+\.rb$`),
		in("Data", `^(app/models/\w+|db/schema)\.rb$`),
	},
}, { // Django
	mark: regexp.MustCompile(`^([\w-]+/)?manage\.py$`), named: true,
	parts: []part{
		in("Wiring", `(^|/)(settings(/base)?|urls|celery)\.py$`),
		in("Handlers", `(^|/)(views|viewsets|api|tasks|consumers)(/\w+)?\.py$`),
		in("Data", `(^|/)(models(/\w+)?|serializers|forms)\.py$`),
	},
}, { // Laravel
	mark: regexp.MustCompile(`^artisan$`), named: true,
	parts: []part{
		in("Wiring", `^(routes/\w+|bootstrap/app|app/Providers/\w+)\.php$`),
		in("Handlers", `^app/(Http/Controllers|Jobs|Livewire)/[\w/]+\.php$`),
		in("Data", `^app/Models/\w+\.php$`),
	},
}, { // Phoenix
	mark: regexp.MustCompile(`^lib/\w+_web/router\.ex$`), named: true,
	parts: []part{
		in("Wiring", `^lib/\w+(_web/(router|endpoint)|/application)\.ex$`),
		in("Handlers", `^lib/\w+_web/(live|controllers|channels)/[\w/]+\.ex$`),
		in("Data", `^lib/\w+/[\w/]+\.ex$`),
	},
}, { // Spring, Quarkus and their like
	mark: regexp.MustCompile(`^src/main/resources/application[\w-]*\.(properties|ya?ml)$`), named: true,
	parts: []part{
		in("Wiring", `\.(java|kt)$`).with(`(?m)^@(SpringBootApplication|QuarkusMain|Configuration)`),
		in("Wiring", `src/main/resources/application\.(properties|ya?ml)$`),
		in("Handlers", `\.(java|kt)$`).with(`(?m)^@(RestController|Controller|Path|KafkaListener|Service)\b`),
		in("Data", `\.(java|kt)$`).with(`(?m)^@(Entity|Document|Table)\b|interface \w+ extends \w*Repository\b`),
		in("Data", `src/main/resources/.*(schema\.sql|V1__[\w-]+\.sql)$`),
	},
}, { // ASP.NET
	mark: regexp.MustCompile(`(^|/)appsettings\.json$`),
	parts: []part{
		in("Wiring", `(^|/)(Program|Startup)\.cs$|(^|/)appsettings\.json$`),
		in("Handlers", `(Controller|Endpoints?|Hub|Handler|\.razor|\.cshtml)(\.cs)?$`),
		in("Data", `(DbContext\.cs|(^|/)(Models|Entities|Domain)/[\w/]+\.cs)$`),
	},
}, { // Android
	mark: regexp.MustCompile(`(^|/)AndroidManifest\.xml$`),
	parts: []part{
		in("Screens", `(Activity|Fragment|Screen)\.(kt|java)$`),
		in("Handlers", `(ViewModel|Presenter|UseCase|Service|Worker)\.(kt|java)$`),
		in("Data", `(Dao|Database|Repository|Entity|Api)\.(kt|java)$`),
		in("Wiring", `(AndroidManifest\.xml|Module\.kt|App(lication)?\.(kt|java))$`),
	},
}, { // Apple's
	mark: regexp.MustCompile(`(^|/)(Info\.plist|[\w-]+App\.swift)$`),
	parts: []part{
		in("Screens", `(View|ViewController|Screen)\.swift$`),
		in("Handlers", `(ViewModel|Manager|Service|Controller)\.swift$`),
		in("Data", `(Store|Repository|Database|(^|/)Models?/\w+)\.swift$`),
		in("Wiring", `(App|AppDelegate|SceneDelegate)\.swift$`),
	},
}, { // React, Next, Vue, Svelte
	mark: regexp.MustCompile(`^(src/)?(app|pages)/(page|layout|index|_app)\.[jt]sx?$` +
		`|^src/(main|App|index)\.([jt]sx|vue|svelte)$`),
	parts: []part{
		in("Screens", `(^|/)(app|pages|screens|views|routes)/([\w()\[\]./-]+/)?[\w\[\]+-]+\.(jsx|tsx|vue|svelte|astro)$`),
		in("Handlers", `(^|/)(api|server|actions|controllers|services)/[\w\[\]./-]+\.[jt]s$`),
		in("Data", `(^|/)(models|db|stores?|schema|entities)/[\w./-]+\.[jt]s$|(^|/)schema\.prisma$`),
		in("Wiring", `^src/(main|App|index|router)(/index)?\.([jt]sx?|vue)$|(^|/)layout\.[jt]sx$`+
			`|_app\.[jt]sx$|^(middleware|server)\.[jt]s$`),
	},
}}
