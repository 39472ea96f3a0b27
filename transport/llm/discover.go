package llm

import "context"

// Info is a model that a server has.
type Info struct {
	ID           string
	Loaded       bool
	Context      int // tokens that fit where it is loaded; 0 where the server does not say
	MaxContext   int // that the model is made for
	Kind         string
	Format       string
	Quantization string
	Server       string
}

// Models asks the server what it is and which models it has.
func (c *Client) Models(ctx context.Context) (server string, list []Info, err error) {
	return "", nil, nil
}
