package http

import (
	"cmp"
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

// inputForm says how a request becomes an operation's input: a struct whose tags name parameters, and whose field Body,
// if it has one, is the JSON body. The huma framework could do the same. But the compiler would make a copy of the
// framework, some 30 kB, for each type of input; so the framework describes inputs, and holds them to their schemas.
type inputForm struct {
	of     reflect.Type
	params []parameter
	body   []int // the index of the field Body; nil without
}

// parameter is a field of an input.
type parameter struct {
	*huma.Param
	field    int
	absent   string // what counts if the request has no such parameter
	repeated bool   // a query may name it more than once
}

func (p *parameter) text(c huma.Context) string {
	switch p.In {
	case "path":
		return c.Param(p.Name)
	case "query":
		return c.Query(p.Name)
	}
	return c.Header(p.Name)
}

// inputOf describes the input in the operation.
func (s *Server) inputOf(of reflect.Type, op *huma.Operation) inputForm {
	f := inputForm{of: of}
	schemas := s.api.OpenAPI().Components.Schemas
	for field := range of.Fields() {
		if field.Name == "Body" {
			f.body = field.Index
			op.RequestBody = &huma.RequestBody{Required: field.Type.Kind() != reflect.Pointer, Content: map[string]*huma.MediaType{
				string(formJSON): {Schema: huma.SchemaFromField(schemas, field, of.Name()+"Body")}}}
			continue
		}
		p := parameter{field: field.Index[0], absent: field.Tag.Get("default"), Param: &huma.Param{Schema: huma.SchemaFromField(schemas, field, "")}}
		for _, p.In = range []string{"path", "query", "header"} {
			if p.Name = field.Tag.Get(p.In); p.Name != "" {
				break
			}
		}
		p.Name, p.repeated = strings.CutSuffix(p.Name, ",explode")
		p.Description, p.Required = p.Schema.Description, p.In == "path"
		if p.In == "query" {
			p.Explode = &p.repeated
		}
		f.params, op.Parameters = append(f.params, p), append(op.Parameters, p.Param)
	}
	return f
}

// readParameters fills the input, and returns what is wrong with the request's parameters.
func (f *inputForm) readParameters(c huma.Context, schemas huma.Registry, in reflect.Value) (wrong huma.ValidateResult) {
	u := c.URL()
	unread := u.Query()
	for _, p := range f.params {
		at := huma.NewPathBuffer([]byte(p.In+"."+p.Name), len(p.In)+1+len(p.Name))
		text := p.text(c)
		values := strings.Split(text, ",")
		if p.repeated {
			values = unread[p.Name]
		}
		if p.In == "query" {
			delete(unread, p.Name)
		}
		text = cmp.Or(text, p.absent)
		if text == "" {
			if p.Required {
				wrong.Add(at, "", "required "+p.In+" parameter is missing")
			}
			continue
		}
		value, err := set(in.Field(p.field), text, values)
		if err != nil {
			wrong.Add(at, text, err.Error())
			continue
		}
		huma.Validate(schemas, p.Schema, at, huma.ModeWriteToServer, value, &wrong)
	}
	for name := range unread {
		wrong.Add(huma.NewPathBuffer([]byte("query."+name), len("query."+name)), "", "unknown query parameter")
	}
	return wrong
}

// set gives a field the value of a parameter, and returns it as schemas judge it.
func set(field reflect.Value, text string, values []string) (any, error) {
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
		return text, nil
	case reflect.Bool:
		v, err := strconv.ParseBool(text)
		field.SetBool(v)
		return v, unless(err, "invalid boolean")
	case reflect.Int:
		v, err := strconv.ParseInt(text, 10, 64)
		field.SetInt(v)
		return v, unless(err, "invalid integer")
	case reflect.Uint64:
		v, err := strconv.ParseUint(text, 10, 64)
		field.SetUint(v)
		return v, unless(err, "invalid integer")
	case reflect.Float64:
		v, err := strconv.ParseFloat(text, 64)
		field.SetFloat(v)
		return v, unless(err, "invalid float")
	case reflect.Slice:
		field.Set(reflect.MakeSlice(field.Type(), len(values), len(values)))
		for i, v := range values {
			field.Index(i).SetString(v)
		}
		return values, nil
	}
	if err := field.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		return nil, errors.New("invalid value: " + err.Error())
	}
	return text, nil
}

func unless(err error, says string) error {
	if err != nil {
		return errors.New(says)
	}
	return nil
}

type inputKey struct{}

// register adds an operation that writes its response itself. The handler may return an error only before it has
// written anything.
func (s *Server) register(scope auth.Scope, op huma.Operation, of reflect.Type, handler func(w http.ResponseWriter, r *http.Request, in any) error) {
	form := s.inputOf(of, &op)
	op.Middlewares = huma.Middlewares{func(c huma.Context, next func(huma.Context)) {
		in := reflect.New(of)
		if wrong := form.readParameters(c, s.api.OpenAPI().Components.Schemas, in.Elem()); wrong.Errors != nil {
			_ = huma.WriteErr(s.api, c, http.StatusUnprocessableEntity, "validation failed", wrong.Errors...) // whoever left needs no reason
			return
		}
		next(huma.WithValue(c, inputKey{}, in.Interface()))
	}}
	huma.Register(s.api, secured(scope, op), func(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
		in := ctx.Value(inputKey{})
		q := requestOf(ctx)
		if body := q.body; form.body != nil && len(body) > 0 { // the framework has held it to its schema
			q.body = nil // the input has a copy
			if err := json.Unmarshal(body, reflect.ValueOf(in).Elem().FieldByIndex(form.body).Addr().Interface()); err != nil {
				return nil, huma.Error422UnprocessableEntity("validation failed", &huma.ErrorDetail{Location: "body", Message: err.Error()})
			}
		}
		if err := auth.Require(ctx, scope); err != nil { // the header names the scope, for clients that can ask for it
			return nil, huma.ErrorWithHeaders(auth.ProblemOf(err), http.Header{"WWW-Authenticate": {auth.Challenge(ctx, scope)}})
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			r, w := humago.Unwrap(c)
			if err := handler(w, r, in); err != nil {
				auth.Refuse(quiet{w, s.Redact}, err)
			}
		}}, nil
	})
}
