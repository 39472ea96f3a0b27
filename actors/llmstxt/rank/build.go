package rank

import (
	"context"
	"io/fs"

	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// Build ranks the files of repo and reads what it needs of them through files: the heads of the likeliest documents
// and sources first, the public surface only of what is listed in the end. progress, which may be nil, hears how many
// of how many links are written up. The only error is ctx's cause: a file that can no longer be read is passed over.
func Build(ctx context.Context, files fs.FS, repo *scan.Repository, options Options, progress func(done,
	total int)) (*Index, error) {
	v := newSurvey(ctx, files, repo, options)
	defer v.reader.Close()
	index := &Index{Origin: repo.Origin, Title: v.title(), Facts: v.facts(), Survey: v.surveyed()}
	j := &judge{survey: v, passed: new(passedOver)}
	sources := &sourceJudge{judge: j, declared: make(declarers)}
	sections := j.choose(&pageJudge{judge: j, crowds: make(map[string]int)}, sources)
	purpose := v.purpose()
	index.Summary, index.SummaryFrom, index.SummaryReason = purpose.text, purpose.from, purpose.reason
	if err := j.writeUp(sections, progress); err != nil {
		return nil, err
	}
	sources.addSymbols(sections)
	sources.api(sections)
	index.Sections, index.Passed = sections.finish(j), j.passed.best()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return index, nil
}

// judge gives links their sections, points and notes. The judges of pages and of sources know what only they need.
type judge struct {
	*survey
	passed *passedOver
}
