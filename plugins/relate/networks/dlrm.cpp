#include "plugins/relate/networks/dlrm.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "plugins/relate/networks/dense_stack.hpp"
#include "plugins/relate/networks/yes_or_no.hpp"

namespace cambium::relate {

void Dlrm::Params::describe(deck::Describe<Params>& d) {
  d("embedding_dim", &Params::width, "embedding dimension").formerly("width").range(1, 100000).def(16);
  d("bottom", &Params::bottom,
    "widths of the hidden layers of the bottom MLP for dense features; an output layer of the embedding dimension is "
    "added")
      .def({64})
      .example("[512, 256, 64]");
  d("top", &Params::top, "hidden widths of the layers above the products").def({64}).example("[512, 256]");
  d("wide", &Params::wide, "each row also has a weight of its own, added to the output as in logistic regression")
      .def(false);
  d("loss", &Params::loss, "loss of the predicted probability: binary cross entropy, or squared error")
      .options({{"cross_entropy", Objective::cross_entropy}, {"squared", Objective::squared}})
      .def(Objective::cross_entropy);
  d("precision", &Params::precision, "floating-point precision of weights, embeddings and products")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}})
      .def(Precision::float32);
  d.check([](const Params& p) -> std::string {
    for (const auto* widths : {&p.bottom, &p.top})
      for (const auto width : *widths)
        if (width < 1 || width > 1'000'000)
          return fmt::format("a layer of width {} is none; widths are 1 to 1000000", width);
    return "";
  });
}

void Dlrm::require_columns(const RecordSet& records) const {
  if (records.columns.size() < 2 && (records.columns.empty() || records.numbers.empty()))
    throw InputError(
        fmt::format("{}: dlrm multiplies columns with each other and with dense features; records need two columns, or "
                    "a column and dense features",
                    records.source));
}

DlrmShape Dlrm::shape() const {
  DlrmShape out;
  out.width = params_.width;
  out.wide = params_.wide;
  out.numbers = std::ssize(seen().mean);
  out.columns = std::ssize(seen().columns);
  out.bottom = params_.bottom;
  out.top = params_.top;
  return out;
}

std::vector<train::ParameterInfo> Dlrm::parameters() const {
  std::vector<train::ParameterInfo> out;
  const auto shape = this->shape();
  if (shape.has_bottom()) add_parameters("bottom", shape.bottom_widths(), out);
  add_parameters("top", shape.top_widths(), out);
  return out;
}

/// Initial values are uniform within 1 / sqrt(rows), as published.
std::vector<train::TableInfo> Dlrm::tables() const {
  std::vector<train::TableInfo> out;
  for (const auto& column : seen().columns)
    out.push_back({column.name, column.rows, shape().row_width(), 1.0 / std::sqrt(static_cast<double>(column.rows))});
  return out;
}

std::vector<train::TermInfo> Dlrm::terms() const {
  const bool squared = params_.loss == Params::Objective::squared;
  return {{squared ? "squared_error" : "cross_entropy", "", train::TermInfo::Report::mean}};
}

std::vector<train::TermInfo> Dlrm::metrics() const {
  return {{"cross_entropy", "", train::TermInfo::Report::mean}, {"wrong", "", train::TermInfo::Report::mean}};
}

TableNetwork::Loss Dlrm::loss_of(double output, double answer) const {
  const double p = sigmoid(output), error = p - answer;
  if (params_.loss == Params::Objective::squared) return {error * error, 2.0 * error * p * (1.0 - p)};
  return {cross_entropy(output, answer), error};
}

double Dlrm::prediction_of(double output) const { return sigmoid(output); }

void Dlrm::measure(double output, double answer, std::span<train::TermSum> metrics) const {
  metrics[0].sum += cross_entropy(output, answer);
  metrics[1].sum += (output > 0.0) == (answer > 0.5) ? 0.0 : 1.0;
  for (auto& metric : metrics) metric.count += 1.0;
}

std::vector<Citation> Dlrm::citations() const {
  return {{"naumov2019",
           "@misc{naumov2019,\n  author = {Naumov, Maxim and Mudigere, Dheevatsa and Shi, Hao-Jun Michael and Huang, "
           "Jianyu and others},\n  title = {Deep Learning Recommendation Model for Personalization and Recommendation "
           "Systems},\n  year = {2019},\n  eprint = {1906.00091},\n  archivePrefix = {arXiv}\n}\n"}};
}

}  // namespace cambium::relate
