package page

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

func IsLicence(name string) bool {
	stem := strings.ToUpper(strings.TrimSuffix(name, path.Ext(name)))
	return stem == "LICENSE" || stem == "LICENCE" || stem == "COPYING"
}

// LicenceOf recognises the common licences by words that only they have, the more specific before those whose words
// they contain.
func LicenceOf(text string) string {
	text = strings.ToLower(prose.Tidy(text))
	for _, known := range []struct{ id, words string }{
		{"AGPL-3.0", "gnu affero general public license version 3"},
		{"LGPL-3.0", "gnu lesser general public license version 3"},
		{"LGPL-2.1", "gnu lesser general public license version 2.1"},
		{"GPL-3.0", "gnu general public license version 3"},
		{"GPL-2.0", "gnu general public license version 2"},
		{"Apache-2.0", "apache license version 2.0"},
		{"MPL-2.0", "mozilla public license version 2.0"},
		{"EPL-2.0", "eclipse public license - v 2.0"},
		{"CC0-1.0", "cc0 1.0 universal"},
		{"Unlicense", "this is free and unencumbered software released into the public domain"},
		{"BSL-1.0", "boost software license - version 1.0"},
		{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
		{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
		{"BSD-3-Clause", "endorse or promote products derived from"},
		{"BSD-2-Clause", "redistributions in binary form must reproduce the above copyright"},
	} {
		if strings.Contains(strings.ReplaceAll(text, ", version", " version"), known.words) {
			return known.id
		}
	}
	return ""
}
