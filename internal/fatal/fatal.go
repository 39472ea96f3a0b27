package fatal

// IfError ends the test with the error, if there is one. t is a testing.TB or a *rapid.T.
func IfError(t interface {
	Helper()
	Fatal(args ...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
