#include "plugins/relate/networks/factorization_machine.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "plugins/relate/networks/yes_or_no.hpp"

namespace cambium::relate {

void FactorizationMachine::Params::describe(deck::Describe<Params>& d) {
  d("embedding_dim", &Params::width,
    "embedding dimension of the factors; 0 for linear terms only, which is logistic or linear regression")
      .formerly("width")
      .range(0, 100000)
      .def(16);
  d("init_scale", &Params::reach, "initialisation range: embeddings are uniform between minus this and this")
      .formerly("reach")
      .non_negative()
      .def(0.1);
  d("loss", &Params::loss,
    "loss: cross_entropy for labels of 0 or 1, whose probability is learned; squared for values, in units of their "
    "standard deviation")
      .options({{"cross_entropy", Objective::cross_entropy}, {"squared", Objective::squared}})
      .def(Objective::cross_entropy);
  d("precision", &Params::precision, "floating-point precision of weights, embeddings and products")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}})
      .def(Precision::float32);
  d.check([](const Params& p) -> std::string {
    return p.width > 0 && p.reach == 0.0 ? "init_scale: vectors that begin at zero stay there, because each learns "
                                           "from the others; give more than 0, for example 0.1"
                                         : "";
  });
}

void FactorizationMachine::require_columns(const RecordSet& records) const {
  if (!says_yes_or_no()) return;
  for (std::size_t r = 0; r < records.answers.size(); ++r)
    if (const double y = records.answers[r]; y != 0.0 && y != 1.0)
      throw InputError(
          fmt::format("{}, row {}: {} is {:g}, but the loss cross_entropy needs labels of 0 or 1; give "
                      "factorization_machine loss: squared",
                      records.source, records.place[r], records.answer, y));
}

std::vector<train::ParameterInfo> FactorizationMachine::parameters() const {
  const auto numbers = shape().numbers;
  std::vector<train::ParameterInfo> out{{"bias", {1}, false, false}};
  if (numbers == 0) return out;
  out.push_back({"numbers.w", {numbers}, true, false});
  if (params_.width > 0) out.push_back({"numbers.v", {numbers, params_.width}, true, false});
  return out;
}

std::vector<train::TableInfo> FactorizationMachine::tables() const {
  std::vector<train::TableInfo> out;
  for (const auto& column : seen().columns) out.push_back({column.name, column.rows, params_.width + 1, params_.reach});
  return out;
}

std::vector<train::TermInfo> FactorizationMachine::terms() const {
  if (says_yes_or_no()) return {{"cross_entropy", "", train::TermInfo::Report::mean}};
  return {{"error", "", train::TermInfo::Report::root_mean}};
}

std::vector<train::TermInfo> FactorizationMachine::metrics() const {
  if (!says_yes_or_no()) return {{"error", seen().unit, train::TermInfo::Report::root_mean}};
  return {{"cross_entropy", "", train::TermInfo::Report::mean}, {"wrong", "", train::TermInfo::Report::mean}};
}

TableNetwork::Loss FactorizationMachine::loss_of(double output, double answer) const {
  if (says_yes_or_no()) return {cross_entropy(output, answer), sigmoid(output) - answer};
  const double error = output - (answer - seen().centre) / seen().spread;
  return {error * error, 2.0 * error};
}

double FactorizationMachine::prediction_of(double output) const {
  return says_yes_or_no() ? sigmoid(output) : seen().centre + seen().spread * output;
}

void FactorizationMachine::measure(double output, double answer, std::span<train::TermSum> metrics) const {
  if (says_yes_or_no()) {
    metrics[0].sum += cross_entropy(output, answer);
    metrics[1].sum += (output > 0.0) == (answer > 0.5) ? 0.0 : 1.0;
  } else {
    const double error = prediction_of(output) - answer;
    metrics[0].sum += error * error;
  }
  for (auto& metric : metrics) metric.count += 1.0;
}

std::vector<Citation> FactorizationMachine::citations() const {
  return {
      {"rendle2010",
       "@inproceedings{rendle2010,\n  author = {Rendle, Steffen},\n  title = {Factorization Machines},\n  booktitle "
       "= {2010 IEEE International Conference on Data Mining},\n  pages = {995--1000},\n  year = {2010}\n}\n"}};
}

}  // namespace cambium::relate
