#include "plugins/pretrain/tasks/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/pretrain/features/similar.hpp"

namespace cambium::pretrain {

namespace fs = std::filesystem;

void Neighbours::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model file of a field_encoder; without it only the methods without training are compared")
      .example("\"{run}/train/model.h5\"");
  d("archive", &Params::archive,
    "archive to search; with by: partner, the positive pairs for the canonical correlation baseline");
  d("queries", &Params::queries, "query data set; with by: partner, each query is searched among the positives of all");
  d("by", &Params::by,
    "criterion of a correct result: the same run, the same parameters, the same label, or the query's own positive "
    "(partner)")
      .options({{"simulation", By::simulation},
                {"parameters", By::parameters},
                {"label", By::label},
                {"partner", By::partner}})
      .def(By::simulation);
  d("compare", &Params::compare,
    "candidates: all entries; those of other snapshots; or those of each other snapshot separately, one query each")
      .options({{"all", Compare::all},
                {"other_moments", Compare::other_moments},
                {"pairs_of_moments", Compare::pairs_of_moments}})
      .def(Compare::all);
  d("neighbours", &Params::neighbours, "entries that are written for each query").at_least(1).def(5);
  d("batch", &Params::batch, "samples encoded at a time").at_least(1).def(64);
  d("index", &Params::index, "index for the entries written for each query; default: exact search")
      .example("{type: approximate, recall: 0.99}");
  d.check([](const Params& p) -> std::string {
    if (p.by == By::partner && p.compare != Compare::all)
      return "by: partner compares with the positives of all queries; remove 'compare'";
    if (p.index && p.compare != Compare::all) return "an index searches all entries; remove 'compare', or 'index'";
    return "";
  });
}

void Neighbours::examine(Check& check) {
  for (const char* name : {"scores.csv", "neighbours.csv", "pictures.h5"})
    check.will_write({name, {Origin::stage, "neighbours"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<train::Dataset>(params_.archive, context);
  context.registry->make<train::Dataset>(params_.queries, context);
  context.log.info(fmt::format("{} of data set {} for queries of {}",
                               params_.model ? "vectors by " + *params_.model : "without a model: cheap comparisons",
                               params_.archive.type, params_.queries.type));
  if (params_.model) check.require_written_by("model", *params_.model, {{Origin::network}});
}

/// Also reads both tables.
std::vector<Method> Neighbours::methods(train::Dataset& archive, train::Dataset& queries, Context& context) {
  archive_ = read_table(archive);
  queries_ = read_table(queries);
  if (const auto again = rows_found_again(queries_.field, archive_.field);
      again > 0 && params_.by != By::partner && params_.compare == Compare::all)
    context.log.warn(
        fmt::format("{} of {} queries are also in the archive and find themselves, which does not test the search; "
                    "give other queries, or compare: other_moments",
                    again, queries_.rows()));
  Matrix known, asked;
  if (params_.model) {
    LoadedEncoder encoder(*params_.model, context);
    auto of_queries = encoder.vectors_of(queries, params_.batch);
    asked = std::move(of_queries.field);
    if (params_.by != By::partner) {
      known = encoder.vectors_of(archive, params_.batch).field;
    } else {
      if (of_queries.partner.empty())
        throw KeyError("neighbours.by.partner", "by",
                       fmt::format("by: partner needs an encoder of positive pairs, but '{}' was trained with views of "
                                   "the same field; train it with "
                                   "positive: field or parameters, or set another 'by'",
                                   *params_.model));
      known = std::move(of_queries.partner);
    }
    citations_ = encoder.citations();
  }
  return params_.by == By::partner ? methods_for_partners(archive_, queries_, known, asked)
                                   : methods_for(archive_, queries_, known, asked);
}

static void require_known(bool known, const char* what) {
  if (!known)
    throw KeyError(
        "neighbours.by", "by",
        fmt::format("by is {}, but the samples of archive or queries have none; set 'by' to what both have", what));
}

Questions Neighbours::questions() const {
  Questions out;
  const Table &a = archive_, &q = queries_;
  const auto at = [](const std::vector<std::int64_t>& values, std::int64_t k) { return values[k]; };
  switch (params_.by) {
    case By::simulation:
      require_known(!a.simulation.empty() && !q.simulation.empty(), "simulation");
      out.right = [&a, &q, at](auto query, auto entry) { return at(q.simulation, query) == at(a.simulation, entry); };
      break;
    case By::label:
      require_known(!a.label.empty() && !q.label.empty(), "label");
      out.right = [&a, &q, at](auto query, auto entry) { return at(q.label, query) == at(a.label, entry); };
      break;
    case By::parameters:
      require_known(!a.parameters.empty() && !q.parameters.empty(), "parameters");
      out.right = [&a, &q](auto query, auto entry) {
        return std::ranges::equal(q.parameters.row(query), a.parameters.row(entry));
      };
      break;
    case By::partner:
      out.right = [](auto query, auto entry) { return query == entry; };
      break;
  }
  const auto entries = params_.by == By::partner ? q.rows() : a.rows();
  if (params_.compare != Compare::all) require_known(!a.moment.empty() && !q.moment.empty(), "compared over snapshots");
  out.lists = [this, &a, &q, at, entries](std::int64_t query) {
    std::map<std::int64_t, std::vector<std::int64_t>> lists;
    for (std::int64_t k = 0; k < entries; ++k) {
      if (params_.compare != Compare::all && at(a.moment, k) == at(q.moment, query)) continue;
      lists[params_.compare == Compare::pairs_of_moments ? at(a.moment, k) : 0].push_back(k);
    }
    std::vector<std::vector<std::int64_t>> all;
    for (auto& [moment, list] : lists) all.push_back(std::move(list));
    return all;
  };
  return out;
}

void Neighbours::write(const std::vector<Method>& methods, const std::vector<SearchScore>& scores, Context& context) {
  lines_.push_back(fmt::format("{:<18}{:>12}{:>14}{:>14}{:>10}", "correct entry is", "nearest", "in first 10",
                               "mean rank", "queries"));
  std::string text = "method,nearest,among_ten,mean_place,asked\n";
  for (std::size_t k = 0; k < methods.size(); ++k) {
    const auto& s = scores[k];
    lines_.push_back(fmt::format("{:<18}{:>12.4f}{:>14.4f}{:>14.2f}{:>10}", methods[k].name, s.first, s.among_ten,
                                 s.place, s.asked));
    text += fmt::format("{},{},{},{},{}\n", methods[k].name, number_text(s.first), number_text(s.among_ten),
                        number_text(s.place), s.asked);
  }
  if (params_.index) {
    const auto& method = methods.front();
    auto answered = answer(FloatRows::unit(method.archive), FloatRows::unit(method.queries), params_.neighbours,
                           *params_.index, context.comm);
    if (answered.index) lines_.push_back(answered.index->stated.text(answered.index->lists.lists()));
    indexed_ = std::move(answered.entries);
  }
  for (std::size_t k = 0; k < methods.size(); ++k) {
    const auto key = key_of("nearest_" + methods[k].name);
    results_.push_back({key, key, scores[k].first});
  }
  io::on_root(context.comm, [&] {
    io::write_file_atomically((fs::path(context.run_directory) / "scores.csv").string(), text);
    write_neighbours(methods.front(), context);
  });
}

/// Omits entries that must not be compared with a query.
void Neighbours::search(const Method& method, const Found& found) const {
  for (std::int64_t query = 0; query < indexed_.queries; ++query) {
    const auto all = std::span(indexed_.number).subspan(query * indexed_.count);
    const auto there = std::find(all.begin(), all.begin() + indexed_.count, -1) - all.begin();
    found(query, all.first(there));
  }
  if (indexed_.queries > 0) return;
  const auto asked = questions();
  for_each_query(method.archive, method.queries, 0, method.queries.rows,
                 [&](std::int64_t query, std::span<const double> s) {
                   std::vector<std::int64_t> allowed, entries;
                   for (const auto& list : asked.lists(query)) allowed.insert(allowed.end(), list.begin(), list.end());
                   std::vector<double> values;
                   for (const auto entry : allowed) values.push_back(s[entry]);
                   for (const auto k : largest(values, params_.neighbours)) entries.push_back(allowed[k]);
                   found(query, entries);
                 });
}

/// Uses the first method.
void Neighbours::write_neighbours(const Method& method, Context& context) {
  constexpr std::int64_t shown = 6;
  const auto asked = questions();
  const Table& from = params_.by == By::partner ? queries_ : archive_;
  const bool pictures = params_.by != By::partner || !queries_.partner.empty();
  const Matrix& fields = params_.by == By::partner && pictures ? from.partner : from.field;
  const auto cells = queries_.field.columns / queries_.shape.channels;
  std::string text = "query,place,entry,similarity,right\n";
  std::vector<double> drawn;  // (queries, 1 + neighbours, cells): the first channel
  std::int64_t rows = 0;
  const auto add = [&](std::span<const double> field) {
    drawn.insert(drawn.end(), field.begin(), field.begin() + cells);
  };
  const auto take = [&](std::int64_t query, std::span<const std::int64_t> entries) {
    const bool draw = query % std::max<std::int64_t>(1, method.queries.rows / shown) == 0 && rows < shown &&
                      std::ssize(entries) == params_.neighbours;
    if (draw) add(queries_.field.row(query)), ++rows;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const auto entry = entries[k];
      text += fmt::format("{},{},{},{},{}\n", query, k + 1, entry,
                          number_text(cosine(method.queries.row(query), method.archive.row(entry))),
                          asked.right(query, entry) ? 1 : 0);
      if (draw) add(fields.row(entry));
    }
  };
  search(method, take);
  io::write_file_atomically((fs::path(context.run_directory) / "neighbours.csv").string(), text);
  io::write_h5_atomically((fs::path(context.run_directory) / "pictures.h5").string(), [&](io::File& file) {
    io::follow_cf(file);
    if (rows == 0) return;  // no query has that many entries
    io::write_dimension(file, "query", rows);
    io::write_dimension(file, "shown", 1 + params_.neighbours);
    std::vector<std::string> scales{"query", "shown"};
    TensorRef all = io::tensor_of(drawn.data(), {rows, 1 + params_.neighbours});
    for (std::size_t a = 0; a < queries_.shape.cells.size(); ++a) {
      scales.push_back("axis" + std::to_string(a));
      io::write_dimension(file, scales.back(), queries_.shape.cells[a]);
      all.shape[all.rank++] = queries_.shape.cells[a];
    }
    std::int64_t stride = 1;
    for (int k = all.rank - 1; k >= 0; --k) {
      all.stride[k] = stride;
      stride *= all.shape[k];
    }
    io::labelled(file.write("field", all), "", "first quantity of a query, and of the entries most like it")
        .set_attribute("method", method.name);
    file.attach_scales("field", scales);
  });
}

Task::Outcome Neighbours::run(Context& context) {
  results_.clear();
  lines_.clear();
  citations_.clear();
  indexed_ = {};
  const auto archive = context.registry->make<train::Dataset>(params_.archive, context);
  const auto queries = context.registry->make<train::Dataset>(params_.queries, context);
  archive->open(context);
  queries->open(context);
  const auto compared = methods(*archive, *queries, context);
  const auto asked = questions();
  std::vector<SearchScore> scores;
  for (const auto& method : compared) scores.push_back(judge_search(method, asked, context));
  write(compared, scores, context);
  for (const auto& citation : archive->citations()) citations_.push_back(citation);
  work_ = {queries_.rows(), "question"};
  return Outcome::done;
}

}  // namespace cambium::pretrain
