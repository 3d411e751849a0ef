#include "plugins/relate/networks/affinity.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "plugins/relate/networks/dense_stack.hpp"

namespace cambium::relate {

void Affinity::Params::describe(deck::Describe<Params>& d) {
  d("embedding_dim", &Params::width, "embedding dimension, without the bias of each row")
      .formerly("width")
      .range(1, 100000)
      .def(32);
  d("layers", &Params::layers, "hidden widths of the layers above both sides").def({64}).example("[128, 64]");
  d("precision", &Params::precision, "floating-point precision of weights, embeddings and products")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}})
      .def(Precision::float32);
  d.check([](const Params& p) -> std::string {
    for (const auto width : p.layers)
      if (width < 1 || width > 1'000'000)
        return fmt::format("layers: a width of {} is none; widths are 1 to 1000000", width);
    return "";
  });
}

void Affinity::require_columns(const RecordSet& records) const {
  if (!records.pairs) throw InputError("affinity reads pairs of two things; give a dataset of type pairs");
}

std::vector<train::ParameterInfo> Affinity::parameters() const {
  std::vector<train::ParameterInfo> out;
  add_parameters("layers", shape().widths(), out);
  return out;
}

void Affinity::restore(const std::string& state) {
  TableNetwork::restore(state);
  if (seen().columns.size() != 4)
    throw InputError(
        fmt::format("the state of this affinity names {} tables instead of 4; its file is damaged or was "
                    "changed",
                    seen().columns.size()));
}

/// Embeddings of entities start at zero, so that an unseen one contributes nothing; means over many rows need larger
/// ones.
std::vector<train::TableInfo> Affinity::tables() const {
  constexpr double reach[] = {0.0, 0.0, 1.0, 3.0};
  std::vector<train::TableInfo> out;
  for (std::size_t c = 0; c < seen().columns.size() && c < 4; ++c)
    out.push_back({seen().columns[c].name, seen().columns[c].rows, params_.width + 1, reach[c]});
  return out;
}

/// In units of the standard deviation of all answers.
std::vector<train::TermInfo> Affinity::terms() const { return {{"error", "", train::TermInfo::Report::root_mean}}; }

std::vector<train::TermInfo> Affinity::metrics() const {
  return {{"error", seen().unit, train::TermInfo::Report::root_mean}};
}

TableNetwork::Loss Affinity::loss_of(double output, double answer) const {
  const double error = output - (answer - seen().centre) / seen().spread;
  return {error * error, 2.0 * error};
}

void Affinity::measure(double output, double answer, std::span<train::TermSum> metrics) const {
  const double error = prediction_of(output) - answer;
  metrics[0].sum += error * error;
  metrics[0].count += 1.0;
}

}  // namespace cambium::relate
