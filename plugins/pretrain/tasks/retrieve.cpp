#include "plugins/pretrain/tasks/retrieve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/pretrain/features/combinations.hpp"
#include "plugins/pretrain/features/methods.hpp"
#include "plugins/pretrain/tasks/same_parameters.hpp"

namespace cambium::pretrain {

namespace fs = std::filesystem;

void Retrieve::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model,
    "model file of a field_encoder; for a search by parameters, one trained with positive: parameters")
      .example("\"{run}/train/model.h5\"");
  d("archive", &Params::archive, "archive to search");
  d("index_file", &Params::from, "index file written by an earlier run of this stage, instead of an archive")
      .formerly("from")
      .example("\"{run}/retrieve/index.h5\"");
  d("queries", &Params::queries, "query fields, whose most similar entries are searched");
  d("parameters", &Params::parameters, "values of each parameter; entries are searched for each combination")
      .def({})
      .example("{rayleigh: [1e5, 1e6]}");
  d("entries", &Params::entries, "number of entries written for each query").at_least(1).def(5);
  d("batch", &Params::batch, "samples encoded at a time").at_least(1).def(64);
  d("index", &Params::index, "search index");
  d.check([](const Params& p) -> std::string {
    if (p.archive.has_value() == p.from.has_value()) return "give one of: archive, index_file";
    if (p.queries.has_value() == !p.parameters.empty()) return "give one of: queries, parameters";
    return "";
  });
}

std::vector<std::string> Retrieve::files() const {
  return keeps_index() ? std::vector<std::string>{"found.csv", "index.h5"} : std::vector<std::string>{"found.csv"};
}

void Retrieve::examine(Check& check) {
  for (const auto& name : files()) check.will_write({name, {Origin::stage, "retrieve"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  if (params_.archive) context.registry->make<train::Dataset>(*params_.archive, context);
  if (params_.queries) context.registry->make<train::Dataset>(*params_.queries, context);
  context.log.info(fmt::format(
      "entries of {} for {}", params_.archive ? params_.archive->type : *params_.from,
      params_.queries ? params_.queries->type
                      : fmt::format("{} combinations of parameters", combinations(params_.parameters).rows)));
  check.require_written_by("model", params_.model, {{Origin::network}});
  if (params_.from) check.require_written_by("index_file", *params_.from, {{Origin::stage, "retrieve"}});
}

/// Vectors of the queries.
Matrix Retrieve::asked(LoadedEncoder& encoder, Context& context) const {
  if (!params_.queries) return encoder.vectors_of(params_.parameters);
  const auto queries = context.registry->make<train::Dataset>(*params_.queries, context);
  queries->open(context);
  return encoder.vectors_of(*queries, params_.batch).field;
}

namespace {

/// For each parameter combination in the archive: whether the most similar entry is of such a run, and how many of the
/// first `count` are.
struct Judged {
  double first = 0.0, among = 0.0;
  std::int64_t asked = 0;
};

Judged judged(const Method& method, const Matrix& combination, const Table& archive, std::int64_t count) {
  const FloatRows rows = FloatRows::unit(method.archive), queries = FloatRows::unit(method.queries);
  Judged out;
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const auto belongs = [&](std::int64_t k) {
      return std::ranges::equal(archive.parameters.row(k), combination.row(q));
    };
    std::int64_t there = 0;
    for (std::int64_t k = 0; k < archive.rows(); ++k) there += belongs(k);
    if (there == 0) continue;
    const auto found = exactly_nearest(rows, queries, q, q + 1, std::min(count, there));
    std::int64_t right = 0;
    for (const auto k : found.number) right += belongs(k);
    out.first += belongs(found.number[0]), ++out.asked;
    out.among += static_cast<double>(right) / static_cast<double>(found.count);
  }
  return out;
}

}  // namespace

void Retrieve::judge_parameters(const Table& archive, const Matrix& vectors, const Matrix& queries) {
  const Matrix combination = combinations(params_.parameters);
  std::vector<std::string> rows;
  for (const auto& method : methods_for_parameters(archive, combination, vectors, queries)) {
    const auto j = judged(method, combination, archive, params_.entries);
    if (j.asked == 0) continue;
    const auto n = static_cast<double>(j.asked);
    results_.push_back(
        in_table("first_" + key_of(method.name), "accuracy of the first entry: " + method.name, j.first / n));
    rows.push_back(fmt::format("{:<24}{:>10.4f}{:>14.4f}{:>9}", method.name, j.first / n, j.among / n, j.asked));
  }
  if (rows.empty()) return;
  lines_.push_back(fmt::format("{:<24}{:>10}{:>14}{:>9}", "accuracy (run)", "the first",
                               fmt::format("the first {}", params_.entries), "queries"));
  lines_.insert(lines_.end(), rows.begin(), rows.end());
}

Entries Retrieve::search(LoadedEncoder& encoder, const FloatRows& queries, Context& context) {
  if (params_.from) {
    auto kept = read_index(*params_.from);
    if (kept.lists.rows().columns != queries.columns)
      throw KeyError("retrieve.from.size", "index_file",
                     fmt::format("index_file: '{}' holds vectors of {} components, the model gives {}; take the model "
                                 "that it was made with, or make it again",
                                 *params_.from, kept.lists.rows().columns, queries.columns));
    if (!kept.model.empty() && kept.model != encoder.mark())
      throw KeyError(
          "retrieve.from.model", "index_file",
          fmt::format(
              "index_file: '{}' holds vectors of another model than '{}', which mean nothing to it; take the model "
              "that it was made with, or make it again",
              *params_.from, params_.model));
    marks_ = kept.marks;
    lines_.push_back(kept.stated.text(kept.lists.lists()));
    return answer(kept, queries, params_.entries, context.comm);
  }
  const auto archive = context.registry->make<train::Dataset>(*params_.archive, context);
  archive->open(context);
  if (!params_.queries) require_names(*archive, params_.parameters, "parameters");
  const Table table = read_table(*archive);
  marks_ = {table.simulation, table.moment, table.time};
  const Matrix vectors = encoder.vectors_of(*archive, params_.batch).field;
  for (const auto& citation : archive->citations()) citations_.push_back(citation);
  if (!params_.queries && table.parameters.columns == std::ssize(params_.parameters))
    judge_parameters(table, vectors, encoder.vectors_of(params_.parameters));
  auto found = answer(FloatRows::unit(vectors), queries, params_.entries, params_.index, context.comm);
  if (!found.index) return std::move(found.entries);
  lines_.push_back(found.index->stated.text(found.index->lists.lists()));
  found.index->marks = marks_;
  found.index->model = encoder.mark();
  io::on_root(context.comm, [&] {
    io::write_h5_atomically((fs::path(context.run_directory) / "index.h5").string(), [&](io::File& file) {
      io::write_provenance(file, io::provenance_of(context));
      write_index(file, *found.index);
    });
  });
  return std::move(found.entries);
}

void Retrieve::write_found(const Entries& found, Context& context) const {
  std::string names, text;
  for (const auto& [name, values] : params_.parameters) names += "," + name;
  const Matrix combination = combinations(params_.parameters);
  const auto mark = [](const auto& of, std::int64_t entry) {
    return of.empty() ? std::string() : fmt::format(",{}", number_text(static_cast<double>(of[entry])));
  };
  text = "query" + names + ",place,entry,similarity";
  if (!marks_.simulation.empty()) text += ",simulation";
  if (!marks_.moment.empty()) text += ",moment";
  if (!marks_.time.empty()) text += ",time";
  text += "\n";
  for (std::int64_t q = 0; q < found.queries; ++q)
    for (std::int64_t k = 0; k < found.count; ++k) {
      const auto at = static_cast<std::size_t>(q * found.count + k);
      const auto entry = found.number[at];
      if (entry < 0) break;
      text += fmt::format("{}", q);
      if (!params_.queries)
        for (const double x : combination.row(q)) text += fmt::format(",{}", number_text(x));
      text += fmt::format(",{},{},{:.6f}{}{}{}\n", k + 1, entry, found.similarity[at], mark(marks_.simulation, entry),
                          mark(marks_.moment, entry), mark(marks_.time, entry));
    }
  io::on_root(context.comm,
              [&] { io::write_file_atomically((fs::path(context.run_directory) / "found.csv").string(), text); });
}

Task::Outcome Retrieve::run(Context& context) {
  results_.clear();
  lines_.clear();
  citations_.clear();
  LoadedEncoder encoder(params_.model, context);
  citations_ = encoder.citations();
  const FloatRows queries = FloatRows::unit(asked(encoder, context));
  write_found(search(encoder, queries, context), context);
  work_ = {queries.rows, "question"};
  return Outcome::done;
}

}  // namespace cambium::pretrain
