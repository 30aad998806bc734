// Renders a chart's templates as `helm template` does: Go's templates, sprig's functions, and Helm's own include,
// toYaml and required. Reads {chart, release, values} as JSON and prints one YAML text per template, as JSON.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func main() {
	log.SetFlags(0)
	var input struct {
		Folder  string
		Chart   map[string]any
		Release map[string]any
		Values  map[string]any
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		log.Fatal(err)
	}
	chart := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = func(value any) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["required"] = func(message string, value any) (any, error) {
		if value == nil || value == "" {
			return nil, fmt.Errorf("%s", message)
		}
		return value, nil
	}
	functions["include"] = func(name string, data any) (string, error) {
		var text bytes.Buffer
		err := chart.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	chart.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(input.Folder, "templates", "*"))
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			log.Fatal(err)
		}
		template.Must(chart.New(filepath.Base(file)).Parse(string(text)))
	}
	rendered := map[string]string{}
	data := map[string]any{"Chart": input.Chart, "Release": input.Release, "Values": input.Values}
	for _, file := range files {
		name := filepath.Base(file)
		var text bytes.Buffer
		if err := chart.ExecuteTemplate(&text, name, data); err != nil {
			log.Fatal(err)
		}
		rendered[name] = text.String()
	}
	if err := json.NewEncoder(os.Stdout).Encode(rendered); err != nil {
		log.Fatal(err)
	}
}
