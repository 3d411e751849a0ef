#include "plugins/relate/networks/table_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/relate/datasets/choice_table.hpp"
#include "plugins/relate/networks/in_type.hpp"

namespace cambium::relate {

namespace {

double answer_of(const train::Sample& sample, const RecordSet& records) {
  require_labels(records);
  return records.answers[sample.id];
}

/// Sums of x and x^2 over training.
struct Spread {
  double sum = 0.0, squares = 0.0, count = 0.0;
  void add(double x) { sum += x, squares += x * x, count += 1.0; }
  double mean() const { return sum / count; }
  double deviation() const {
    const double variance = squares / count - mean() * mean();
    return variance > 1e-12 * std::max(1.0, mean() * mean()) ? std::sqrt(variance) : 1.0;
  }
};

}  // namespace

void TableNetwork::fit_statistics(train::Dataset& training, Context& context) {
  TrainingCategories categories;
  constexpr std::int64_t block = 4096;
  std::vector<Spread> numbers;
  Spread answers;
  for (std::int64_t begin = 0; begin < training.size(); begin += block) {
    std::vector<std::int64_t> ids;
    for (auto k = begin; k < std::min(training.size(), begin + block); ++k) ids.push_back(k);
    for (const auto& sample : training.read(ids)) {
      const RecordSet& records = record_set_of(*sample, name_);
      if (seen_.columns.empty()) {
        require_columns(records);
        seen_.columns = records.columns;
        seen_.unit = records.unit;
        seen_.logarithm = records.logarithm;
        seen_.numbers = names_of_numbers(records);
        seen_.tested = records.tested;
        if (records.choices) seen_.learned = hash_of(records.choices->training);
        numbers.resize(records.numbers.size());
      }
      for (std::size_t k = 0; k < numbers.size(); ++k)
        numbers[k].add(records.number[static_cast<std::size_t>(sample->id) * numbers.size() + k]);
      answers.add(answer_of(*sample, records));
      categories.add(records, sample->id);
    }
  }
  seen_.columns = categories.columns();
  if (const auto text = categories.text(); !text.empty()) context.log.info(text);
  known_rows_.clear();
  for (const auto& each : numbers) {
    seen_.mean.push_back(each.mean());
    seen_.scale.push_back(1.0 / each.deviation());
  }
  seen_.centre = answers.mean();
  seen_.spread = answers.deviation();
}

/// Normal distribution of variance 2 / (inputs + outputs) (Glorot and Bengio 2010); biases are 0.
void TableNetwork::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  const auto infos = parameters();
  for (std::size_t p = 0; p < infos.size(); ++p) {
    const bool matrix = infos[p].shape.size() == 2;
    const double deviation = matrix ? std::sqrt(2.0 / static_cast<double>(infos[p].shape[0] + infos[p].shape[1])) : 0.0;
    for (std::int64_t k = 0; k < weights[p].elements(); ++k) {
      const double value = matrix
                               ? deviation * Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(k / 4), p)
                                                 .normal(static_cast<int>(k % 4))
                               : 0.0;
      if (dtype() == DType::f64)
        static_cast<double*>(weights[p].data)[k] = value;
      else
        static_cast<float*>(weights[p].data)[k] = static_cast<float>(value);
    }
  }
}

void TableNetwork::require_fit(const RecordSet& records) const {
  if (records.columns.size() != seen_.columns.size() || std::ssize(records.numbers) != std::ssize(seen_.mean))
    throw InputError(
        fmt::format("{}: records have {} columns and {} dense inputs, but this {} reads {} and {}; take records like "
                    "those that it was trained on",
                    records.source, records.columns.size(), records.numbers.size(), name_, seen_.columns.size(),
                    seen_.mean.size()));
  require_same_order(seen_.columns, seen_.numbers, records, name_);
  require_same_rows(seen_.columns, records, name_);
  if (seen_.logarithm) require_same_numbers(*seen_.logarithm, records, name_);
}

std::vector<train::Bags> TableNetwork::bags(std::span<const train::SamplePtr> samples) const {
  std::vector<train::Bags> out(seen_.columns.size());
  for (const auto& sample : samples) {
    const RecordSet& records = record_set_of(*sample, name_);
    require_fit(records);
    const auto* rows = known_rows_.of(*sample, records, seen_.columns, log_);
    for (std::size_t c = 0; c < seen_.columns.size(); ++c) {
      const auto at = static_cast<std::size_t>(sample->id) * seen_.columns.size() + c;
      const auto bag = rows ? std::span(*rows).subspan(at, 1) : records.bag[at];
      for (const auto id : bag)
        if (id < 0 || id >= seen_.columns[c].rows)
          throw InputError(fmt::format(
              "{}, row {}, column {}: {} is outside its table, which has {} rows, numbered from "
              "0; give records of the things that this {} was trained on",
              records.source, records.place[sample->id], seen_.columns[c].name, id, seen_.columns[c].rows, name_));
      out[c].add(bag);
    }
  }
  return out;
}

template <class T>
Inputs<T> TableNetwork::inputs_of(std::span<const train::SamplePtr> samples) const {
  Inputs<T> out;
  out.samples = static_cast<int>(samples.size());
  for (const auto& sample : samples) {
    const RecordSet& records = record_set_of(*sample, name_);
    for (std::size_t k = 0; k < seen_.mean.size(); ++k)
      out.numbers.push_back(static_cast<T>(
          seen_.scale[k] *
          (records.number[static_cast<std::size_t>(sample->id) * seen_.mean.size() + k] - seen_.mean[k])));
    for (std::size_t c = 0; c < seen_.columns.size(); ++c)
      out.lengths.push_back(std::ssize(records.bag_of(sample->id, c)));
  }
  return out;
}

template <class T>
Passes<T>& TableNetwork::passes() {
  if constexpr (sizeof(T) == sizeof(double)) {
    if (!passes64_) passes64_ = passes64();
    return *passes64_;
  } else {
    if (!passes32_) passes32_ = passes32();
    return *passes32_;
  }
}

template <class T>
std::vector<T> TableNetwork::forward(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights) {
  if (!rows_) throw InternalError(fmt::format("{} was not given the rows of its tables", name_));
  return passes<T>().forward(weights, *rows_, inputs_of<T>(samples));
}

void TableNetwork::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                            std::span<const double> term_weights, std::span<const TensorRef> gradients,
                            std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  if (samples.empty()) return;
  in_type(dtype(), [&]<class T>() {
    auto by_output = forward<T>(samples, weights);
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const Loss loss =
          loss_of(static_cast<double>(by_output[s]), answer_of(*samples[s], record_set_of(*samples[s], name_)));
      terms[0].sum += loss.value;
      terms[0].count += 1.0;
      by_output[s] = static_cast<T>(term_weights[0] * loss.by_output);
    }
    passes<T>().backward(weights, std::move(by_output), gradients, *rows_, ready);
  });
}

void TableNetwork::evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                            std::span<train::TermSum> metrics) {
  if (samples.empty()) return;
  in_type(dtype(), [&]<class T>() {
    const auto output = forward<T>(samples, weights);
    for (std::size_t s = 0; s < samples.size(); ++s)
      measure(static_cast<double>(output[s]), answer_of(*samples[s], record_set_of(*samples[s], name_)), metrics);
  });
}

void TableNetwork::infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                         std::span<const TensorRef> outputs) {
  if (samples.empty()) return;
  in_type(dtype(), [&]<class T>() {
    const auto output = forward<T>(samples, weights);
    for (std::size_t s = 0; s < samples.size(); ++s)
      static_cast<double*>(outputs[0].data)[static_cast<std::int64_t>(s) * outputs[0].stride[0]] =
          prediction_of(static_cast<double>(output[s]));
  });
}

std::string TableNetwork::state() const {
  nlohmann::json columns = nlohmann::json::array();
  for (const auto& column : seen_.columns) {
    columns.push_back({{"name", column.name}, {"rows", column.rows}, {"meaning", column.meaning}});
    if (column.vocabulary) columns.back()["vocabulary"] = *column.vocabulary;
  }
  nlohmann::json out{{"columns", columns},     {"mean", seen_.mean},     {"scale", seen_.scale},
                     {"centre", seen_.centre}, {"spread", seen_.spread}, {"unit", seen_.unit}};
  if (seen_.logarithm) out["logarithm"] = *seen_.logarithm;
  if (!seen_.numbers.empty()) out["numbers"] = seen_.numbers;
  if (seen_.tested != 0) out["tested"] = seen_.tested;
  if (seen_.learned != 0) out["learned"] = seen_.learned;
  return out.dump();
}

void TableNetwork::restore(const std::string& state) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  const auto json = nlohmann::json::parse(state);
  seen_.columns.clear();
  for (const auto& column : json.at("columns")) {
    seen_.columns.push_back({column.at("name").get<std::string>(), column.at("rows").get<std::int64_t>(),
                             column.value("meaning", std::uint64_t{0})});  // 0 in earlier models: unknown
    if (column.contains("vocabulary"))
      seen_.columns.back().vocabulary = std::make_shared<const Vocabulary>(column["vocabulary"].get<Vocabulary>());
  }
  known_rows_.clear();
  seen_.mean = json.at("mean").get<std::vector<double>>();
  seen_.scale = json.at("scale").get<std::vector<double>>();
  seen_.centre = json.at("centre").get<double>();
  seen_.spread = json.at("spread").get<double>();
  seen_.unit = json.at("unit").get<std::string>();
  seen_.numbers = json.value("numbers", std::vector<std::string>{});
  seen_.tested = json.value("tested", std::uint64_t{0});
  seen_.learned = json.value("learned", std::uint64_t{0});
  seen_.logarithm.reset();
  if (json.contains("logarithm")) seen_.logarithm = json.at("logarithm").get<bool>();
  const bool sound = std::all_of(seen_.columns.begin(), seen_.columns.end(), [](const RowColumn& c) {
    return c.rows >= 1 && c.rows <= most && (!c.vocabulary || std::ssize(*c.vocabulary) + 1 == c.rows);
  });
  if (!sound || seen_.columns.empty() || seen_.columns.size() > 100'000 || seen_.mean.size() != seen_.scale.size())
    throw InputError(
        fmt::format("the state of this {} holds invalid sizes of tables; its file is damaged or was changed", name_));
  passes64_.reset();
  passes32_.reset();
}

}  // namespace cambium::relate
