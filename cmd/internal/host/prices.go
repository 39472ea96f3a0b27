package host

import (
	"encoding/json"

	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

func (p *Program) addPrices(flags *pflag.FlagSet) {
	flags.StringVar(&p.prices, "prices", "", "JSON `file` with the prices of models, in the form of models.dev")
	settings.ByOperator(flags, "prices")
}

// provider is what the file of prices says of a provider. Costs are in USD for a million tokens.
type provider struct {
	Models map[string]struct {
		Cost *struct {
			Input      float64 `json:"input"`
			Output     float64 `json:"output"`
			CacheRead  float64 `json:"cache_read"`
			CacheWrite float64 `json:"cache_write"`
		} `json:"cost"`
	} `json:"models"`
}

// readPrices reads the file of prices: an object of providers, each with its models. A model is found by its name, or by
// provider/name. If several providers have the name, the dearest counts. It returns nil without a file.
func (p *Program) readPrices() (func(model string) (actors.Price, bool), error) {
	if p.prices == "" {
		return nil, nil
	}
	text, err := regular.Read(p.prices, regular.Large)
	var all map[string]provider
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	by := map[string]actors.Price{}
	for name, at := range all {
		for model, m := range at.Models {
			if m.Cost == nil || min(m.Cost.Input, m.Cost.Output, m.Cost.CacheRead, m.Cost.CacheWrite) < 0 { // no price of one model
				continue
			}
			price := actors.Price(*m.Cost)
			if known, twice := by[model]; !twice || price.Input+price.Output > known.Input+known.Output {
				by[model] = price
			}
			by[name+"/"+model] = price
		}
	}
	if err == nil && len(by) == 0 {
		err = messages.InvalidInput("it has no model with a cost")
	}
	if err != nil {
		return nil, &exit.Error{Code: exit.Configuration, Err: messages.InvalidInput("cannot read the prices in %s: %v; "+
			"--prices takes a file in the form of models.dev/api.json", p.prices, exit.Reason(err))}
	}
	return func(model string) (actors.Price, bool) { price, known := by[model]; return price, known }, nil
}
