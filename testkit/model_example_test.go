package testkit_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"

	"github.com/seed889630bf/lastword/testkit"
)

// The next token is held back until the one before has been read. In a test, NewModel takes the place of ListenModel.
func ExampleModel_Step() {
	m, err := testkit.ListenModel(testkit.ModelOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	answer := m.Step(testkit.Text("Hel"), testkit.Text("lo"), testkit.Done())
	go func() { _ = answer.Next() }() // the call returns with the first piece

	body := strings.NewReader(`{"model":"any","stream":true,"messages":[{"role":"user","content":"Say hello."}]}`)
	res, err := http.Post(m.URL()+"/chat/completions", "application/json", body)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if lines.Text() == "data: [DONE]" {
			fmt.Println("done")
			break
		}
		if _, rest, ok := strings.Cut(lines.Text(), `"content":`); ok {
			token, _, _ := strings.Cut(rest, "}")
			fmt.Println(token)
			_ = answer.Next()
		}
	}
	fmt.Println(answer.Request().Chat.Messages[0].Content)
	// Output:
	// "Hel"
	// "lo"
	// done
	// Say hello.
}
