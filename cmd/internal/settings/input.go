package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages"
)

// Input is the input of a job, set by flags: one flag for each member, with the member's name, description, default and
// allowed values. Numbers may have a unit, such as 200k.
type Input struct{ members []*member }

// member is the value of a flag, for one member of the input.
type member struct {
	name  string
	form  memberForm
	value json.RawMessage // nil if not set
	text  string          // the flag's text
}

// memberForm is the schema of a member.
type memberForm struct {
	Type, Format, Title, Description string
	Default                          json.RawMessage
	Enum                             []string
	Items                            *memberForm
}

// AddFlags adds flags for those members of the schema for which picked returns true. What it cannot read of the schema of
// another server it leaves out: such a member takes JSON, or a text.
func (in *Input) AddFlags(cmd *cobra.Command, flags *pflag.FlagSet, schema messages.JSONSchema, picked func(name string) bool) {
	var object struct{ Properties json.RawMessage }
	if json.Unmarshal(schema.JSON(), &object) != nil {
		return
	}
	jsonwalk.Object(object.Properties, func(name, value []byte) { // in the order of the schema
		m := &member{name: string(name)}
		if json.Unmarshal(value, &m.form) != nil {
			m.form = memberForm{Description: m.form.Description}
		}
		if picked(m.name) {
			in.members = append(in.members, m)
			m.addFlag(cmd, flags)
		}
	})
}

// addFlag adds the flag for a member. The title of its schema names the value in the help.
func (m *member) addFlag(cmd *cobra.Command, flags *pflag.FlagSet) {
	m.text = strings.Trim(string(m.form.Default), `"`)
	usage := strings.Replace(m.form.Description, m.form.Title, "`"+m.form.Title+"`", min(len(m.form.Title), 1))
	value := pflag.Value(m)
	if m.form.Type == "array" && m.form.Items != nil && m.form.Items.Type == "string" {
		value = list{m}
	}
	f := flags.VarPF(value, flagOf(m.name), "", usage)
	switch {
	case m.form.Type == "boolean":
		f.NoOptDefVal, m.text, f.DefValue = "true", "false", "false"
	case len(m.form.Enum) > 0:
		Must(cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(m.form.Enum, cobra.ShellCompDirectiveNoFileComp)))
	}
}

// Default sets a default for the member.
func (in *Input) Default(flags *pflag.FlagSet, member, value string) {
	f := flags.Lookup(flagOf(member))
	Must(f.Value.Set(value))
	f.DefValue = value
}

// Over returns the input with the members of a JSON object that no flag sets. Errors: invalid_input for other JSON, if a
// flag sets a member.
func (in *Input) Over(object json.RawMessage) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	set := slices.ContainsFunc(in.members, func(m *member) bool { return m.value != nil })
	switch err := json.Unmarshal(object, &members); {
	case object == nil:
		return in.JSON(), nil
	case !set:
		return object, nil
	case err != nil:
		return nil, messages.InvalidInput("the input is no JSON object, so that no flag can set a field of it")
	}
	for _, m := range in.members {
		if m.value != nil {
			members[m.name] = m.value
		}
	}
	return json.Marshal(members)
}

// Say sets a member that has no flag.
func (in *Input) Say(name, text string) {
	value, err := json.Marshal(text)
	Must(err)
	in.members = append(in.members, &member{name: name, value: value})
}

// flagOf returns the name of the flag for the member.
func flagOf(member string) string { return strings.ReplaceAll(member, "_", "-") }

// JSON returns the input that the flags describe.
func (in *Input) JSON() json.RawMessage {
	object := map[string]json.RawMessage{}
	for _, m := range in.members {
		if m.value != nil {
			object[m.name] = m.value
		}
	}
	data, err := json.Marshal(object)
	Must(err) // all values are valid JSON
	return data
}

func (m *member) String() string { return m.text }

// Type returns the name of the value for the help.
func (m *member) Type() string {
	switch {
	case len(m.form.Enum) > 0:
		return strings.Join(m.form.Enum, "|")
	case m.form.Title != "":
		return m.form.Title
	case m.form.Type == "boolean":
		return "bool"
	case m.form.Type == "string":
		return cmp.Or(m.form.Format, "string")
	case m.form.Type == "number", m.form.Type == "integer":
		return "number"
	}
	return "JSON"
}

// Set sets the value. "" leaves the member unset.
func (m *member) Set(text string) error {
	value, err := m.read(text)
	if err == nil {
		m.value, m.text = value, text
	}
	return err
}

// read converts the text of a flag to JSON, by the type in the schema. It accepts "200k" for a number.
func (m *member) read(text string) (raw json.RawMessage, err error) {
	var value any = text
	switch m.form.Type {
	case "boolean":
		value, err = strconv.ParseBool(text)
	case "integer":
		value, err = strconv.ParseInt(text, 10, 64)
		if size := ByteSize(0); err != nil && size.Set(text) == nil {
			value, err = int64(size), nil
		}
		if err != nil {
			err = errors.New("must be a whole number, such as 200000 or 200k")
		}
	case "number":
		if value, err = strconv.ParseFloat(text, 64); err != nil {
			err = errors.New("must be a number such as 0.7")
		}
	case "string":
		if len(m.form.Enum) > 0 && !slices.Contains(m.form.Enum, text) {
			err = fmt.Errorf("must be one of %s", strings.Join(m.form.Enum, ", "))
		}
	default:
		value = json.RawMessage(text)
		open := map[string]string{"object": "{", "array": "["}[m.form.Type]
		switch valid := json.Valid([]byte(text)); {
		case m.form.Type == "" && !valid:
			value = text
		case !valid || !strings.HasPrefix(strings.TrimSpace(text), open):
			err = fmt.Errorf("must be a JSON %s", m.form.Type)
		}
	}
	switch {
	case text == "":
		return nil, nil
	case !utf8.ValidString(text):
		return nil, errNoText
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// errNoText refuses bytes that encoding/json would replace.
var errNoText = errors.New("must be UTF-8; convert it")

// list is a flag that can be repeated.
type list struct{ *member }

func (l list) Set(text string) error { return l.Append(text) }

func (l list) Append(text string) error { return l.Replace(append(l.GetSlice(), text)) }

func (l list) Replace(all []string) (err error) {
	if l.text = strings.Join(all, ", "); !utf8.ValidString(l.text) {
		return errNoText
	}
	l.value, err = json.Marshal(all)
	return err
}

func (l list) GetSlice() (all []string) {
	_ = json.Unmarshal(l.value, &all) // nil if not set
	return all
}
