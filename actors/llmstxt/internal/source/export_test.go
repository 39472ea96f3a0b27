package source

// Languages names the languages that have a scanner, as scan.Language names them.
func Languages() []string {
	var names []string
	for _, l := range languages() {
		if l.Outline != nil {
			names = append(names, l.Name)
		}
	}
	return names
}
