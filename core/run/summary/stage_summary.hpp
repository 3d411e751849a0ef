#pragma once
#include <string>
#include <vector>

#include "core/plugin/task.hpp"

namespace cambium {

/// Summary of a stage, or of a part of it that has a folder of its own.
struct StageSummary {
  Task::Work work;
  std::vector<Result> results;
  std::vector<std::string> lines, files;
  std::vector<Citation> citations;
};

/// Summary of a task, or of a class with the same interface.
template <class Stage>
StageSummary stage_summary_of(Stage& stage) {
  StageSummary page;
  page.work = stage.work();
  page.results = stage.results();
  page.lines = stage.lines();
  page.files = stage.files();
  page.citations = stage.citations();
  return page;
}

/// Collective. Timing table, results, lines, files written in the run directory, warnings of the run so far, and the
/// works to cite, which go into cite.bib there. The same as data goes into results.json.
void print_stage_summary(const StageSummary& page, Context& context);

}  // namespace cambium
