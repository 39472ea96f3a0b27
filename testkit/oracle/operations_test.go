package oracle_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const operations = "../../docs/operations/"

// objects are the Kubernetes sample's, by kind and name, decoded strictly by the API's own types.
func objects(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile(operations + "kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var head struct {
			meta.TypeMeta
			Metadata meta.ObjectMeta
		}
		if err := yaml.Unmarshal(part, &head); err != nil {
			t.Fatal(err)
		}
		into, known := map[string]any{"v1/ConfigMap": &core.ConfigMap{}, "v1/Service": &core.Service{}, "apps/v1/StatefulSet": &apps.StatefulSet{},
			"apps/v1/Deployment": &apps.Deployment{}, "policy/v1/PodDisruptionBudget": &policy.PodDisruptionBudget{}}[head.APIVersion+"/"+head.Kind]
		if !known {
			t.Fatalf("%s %s is not expected", head.APIVersion, head.Kind)
		}
		if err := yaml.UnmarshalStrict(part, into); err != nil {
			t.Errorf("%s %s: %v", head.Kind, head.Metadata.Name, err)
		}
		all[head.Kind+" "+head.Metadata.Name] = into
	}
	return all
}

// The Kubernetes sample says what the API knows, and keeps two of three servers: their pods are told apart from others, live
// under the restricted standard, are probed, and find what they mount.
func TestKubernetesSample(t *testing.T) {
	all := objects(t)
	servers, stores := all["Deployment lastword"].(*apps.Deployment), all["StatefulSet nats"].(*apps.StatefulSet)
	for name, c := range map[string]struct {
		replicas *int32
		selector *meta.LabelSelector
		pod      core.PodTemplateSpec
		claims   []core.PersistentVolumeClaim
	}{
		"lastword": {servers.Spec.Replicas, servers.Spec.Selector, servers.Spec.Template, nil},
		"nats":     {stores.Spec.Replicas, stores.Spec.Selector, stores.Spec.Template, stores.Spec.VolumeClaimTemplates},
	} {
		budget := all["PodDisruptionBudget "+name].(*policy.PodDisruptionBudget)
		service, labels := all["Service "+name].(*core.Service), c.pod.Labels["app"]
		if *c.replicas != 3 || labels != name || c.selector.MatchLabels["app"] != name || budget.Spec.Selector.MatchLabels["app"] != name ||
			service.Spec.Selector["app"] != name {
			t.Errorf("%s: not three that all mean the same pods", name)
		}
		if least, most := budget.Spec.MinAvailable, budget.Spec.MaxUnavailable; (least == nil || least.IntValue() != 2) && (most == nil || most.IntValue() != 1) {
			t.Errorf("%s: more than one may be away", name)
		}
		checkPod(t, name, c.pod.Spec, c.claims)
	}
	if mode := servers.Spec.Template.Spec.Volumes[0].Secret.DefaultMode; *mode != 0o440 {
		t.Errorf("the server refuses tokens of the mode %o", *mode)
	}
	known := ""
	for _, e := range servers.Spec.Template.Spec.Containers[0].Env {
		if e.Name == "LASTWORD_SERVE_NATS" {
			known = e.Value
		}
	}
	for i := range *stores.Spec.Replicas {
		if store := fmt.Sprintf("tls://lastword:$(NATS_PASSWORD)@nats-%d.nats:4222", i); !strings.Contains(known, store) {
			t.Errorf("the servers do not know %s: %s", store, known)
		}
	}
}

func checkPod(t *testing.T, name string, pod core.PodSpec, claims []core.PersistentVolumeClaim) {
	t.Helper()
	box, inside := pod.SecurityContext, pod.Containers[0].SecurityContext
	if !*box.RunAsNonRoot || *box.RunAsUser == 0 || box.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault || *inside.AllowPrivilegeEscalation ||
		!*inside.ReadOnlyRootFilesystem || !slices.Contains(inside.Capabilities.Drop, "ALL") {
		t.Errorf("%s may more than the restricted standard allows", name)
	}
	ports, volumes := map[string]bool{}, map[string]bool{}
	for _, p := range pod.Containers[0].Ports {
		ports[p.Name] = true
	}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	for _, c := range claims {
		volumes[c.Name] = true
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("%s mounts %s, which is not there", name, m.Name)
		}
	}
	for _, probe := range []*core.Probe{pod.Containers[0].StartupProbe, pod.Containers[0].LivenessProbe, pod.Containers[0].ReadinessProbe} {
		if probe == nil || !ports[probe.HTTPGet.Port.StrVal] {
			t.Errorf("%s: a probe asks no port of the container", name)
		}
	}
}

// The compose sample follows the specification, and has three servers that know three stores.
func TestComposeSample(t *testing.T) {
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{WorkingDir: t.TempDir(), Environment: types.Mapping{"UID": "1000", "NATS_PASSWORD": "sesame"},
		ConfigFiles: []types.ConfigFile{{Filename: operations + "compose.yaml"}}}, func(o *loader.Options) { o.SetProjectName("lastword", true) })
	if err != nil {
		t.Fatal(err)
	}
	images := map[string]int{}
	for _, s := range project.Services {
		images[s.Image]++
	}
	if len(images) != 2 || images["nats:2"] != 3 || images["ghcr.io/seed889630bf/lastword:0.2.0"] != 3 {
		t.Errorf("%v", images)
	}
	if a := project.Services["a"]; len(a.DependsOn) != 3 || !a.ReadOnly || a.User != "1000" || a.Environment["LASTWORD_SERVE_NATS"] == nil ||
		*a.Environment["LASTWORD_SERVE_NATS"] != "nats://lastword:sesame@n1:4222,nats://lastword:sesame@n2:4222,nats://lastword:sesame@n3:4222" {
		t.Errorf("%+v", a)
	}
	if conf := project.Configs["nats"].Content; strings.Count(conf, `password: "sesame"`) != 2 || strings.Count(conf, "nats://route:sesame@") != 3 {
		t.Errorf("NATS is open: %s", conf)
	}
}

// sample draws a text that the expression matches, as people write such texts: names in lower case, the shortest
// surroundings, and values of letters, digits and marks of ASCII.
func sample(random *rand.Rand, expression string) (string, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	draw(random, &b, parsed)
	return b.String(), nil
}

func draw(random *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase != 0 {
			text = strings.ToLower(text)
		}
		b.WriteString(text)
	case syntax.OpCharClass:
		b.WriteRune(oneOf(random, re))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			draw(random, b, sub)
		}
	case syntax.OpAlternate:
		draw(random, b, re.Sub[0])
	case syntax.OpPlus:
		for range 12 {
			draw(random, b, re.Sub[0])
		}
	case syntax.OpRepeat:
		if re.Min == 0 && re.Max == 20 {
			b.WriteString("_token") // what follows the name of a service
		}
		for range re.Min + (min(re.Max, 3*re.Min)-re.Min)/2 {
			draw(random, b, re.Sub[0])
		}
	}
}

func oneOf(random *rand.Rand, class *syntax.Regexp) rune {
	var list []rune
	for _, kind := range []string{"abcdefghijkmnpqrtuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ0123456789", "_-+/=.", "\"' \n"} {
		for _, r := range kind {
			for i := 0; i < len(class.Rune); i += 2 {
				if class.Rune[i] <= r && r <= class.Rune[i+1] {
					list = append(list, r)
				}
			}
		}
		if len(list) > 0 {
			break
		}
	}
	if len(list) == 0 {
		return class.Rune[0]
	}
	return list[random.IntN(len(list))]
}
