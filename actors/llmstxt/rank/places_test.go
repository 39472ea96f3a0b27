package rank_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// TestPackagesMayBeCalledSamples defends "spring-petclinic links no Java file and lists functions of mvnw".
func TestPackagesMayBeCalledSamples(t *testing.T) {
	index := build(t, `
-- pom.xml --
<project><groupId>org.springframework.samples</groupId><artifactId>clinic</artifactId></project>
-- mvnw --
#!/bin/sh
# Turns the path of a program into one of the system.
native_path() { echo "$1"; }
-- src/main/java/org/springframework/samples/clinic/Clinic.java --
package org.springframework.samples.clinic;
/** Keeps the animals of a town and their visits. */
public class Clinic { public void open() {} }
-- src/main/java/com/example/demo/bench/Lang.java --
package com.example.demo.bench;
/** Speaks with the owners of the animals. */
public class Lang { public void say() {} }
-- src/main/resources/db/schema.sql --
create table animals (id int);
-- src/test/java/org/springframework/samples/clinic/Helper.java --
package org.springframework.samples.clinic;
/** Helps the tests of the clinic to begin. */
public class Helper { public void help() {} }
`, scan.Origin{}, rank.Options{})
	got := outline(index)
	for _, want := range []string{"samples/clinic/Clinic.java", "demo/bench/Lang.java"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not linked:\n%s", want, got)
		}
	}
	if strings.Contains(got, "mvnw") || strings.Contains(got, "native_path") || strings.Contains(got, "Helper") {
		t.Errorf("a wrapper or a test is linked:\n%s", got)
	}
	if l := facts(index)["Languages"]; !strings.HasPrefix(l, "Java") {
		t.Errorf("the language is %q", l)
	}
}
