package source

// Languages names the languages that have a scanner, as scan.Language names them.
func Languages() []string {
	var names []string
	for _, s := range scanners() {
		names = append(names, s.language)
	}
	return names
}
