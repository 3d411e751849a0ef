#include "plugins/relate/networks/cosine_factorization.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "plugins/relate/networks/in_type.hpp"

namespace cambium::relate {

void CosineFactorization::Params::describe(deck::Describe<Params>& d) {
  d("embedding_dim", &Params::width, "embedding dimension").formerly("width").range(1, 100000).def(64);
  d("init_scale", &Params::reach, "initialisation range: embeddings are uniform between minus this and this")
      .formerly("reach")
      .positive()
      .def(0.1);
  d("num_negatives", &Params::drawn,
    "number of negative samples per step, uniform over items with an interaction; each positive is contrasted with all "
    "of them except the user's own items")
      .formerly("drawn")
      .range(1, 1e6)
      .def(1024);
  d("negatives_per_positive", &Params::each,
    "number of negatives per positive, picked from the step's negative samples; 0: all of them")
      .formerly("each")
      .range(0, 1e6)
      .def(0);
  d("history", &Params::history,
    "weight of the mean embedding of a user's items in the user's vector; 0: the user's own embedding only")
      .range(0.0, 1.0)
      .def(0.0);
  d("loss", &Params::loss, "contrastive loss of positives against negatives");
  d("precision", &Params::precision, "floating-point precision of embeddings and products")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}})
      .def(Precision::float32);
}

CosineFactorization::CosineFactorization(const Params& params, Context&)
    : params_(params), choices_(params.width, params.history, params.each) {
  if (params.each > params.drawn)
    throw KeyError("cosine_factorization.each", "negatives_per_positive",
                   fmt::format("cosine_factorization: each positive needs {} negatives of {} that are sampled; give "
                               "negatives_per_positive: {} or less, or sample more (num_negatives: {})",
                               params.each, params.drawn, params.drawn, params.each));
}

void ContrastLoss::describe(deck::Describe<ContrastLoss>& d) {
  d("type", &ContrastLoss::kind,
    "contrastive loss: softmax, the positive among the negatives; margin, maximises the positive's cosine and "
    "minimises negatives' cosines above a margin")
      .options({{"softmax", Kind::softmax}, {"margin", Kind::margin}})
      .def(Kind::softmax);
  // Cosines differ by at most 2: exp(2 / 0.03) is a finite float.
  d("temperature", &ContrastLoss::temperature, "temperature of softmax that cosines are divided by")
      .range(0.03, 10.0)
      .def(0.1);
  d("margin", &ContrastLoss::margin, "margin: negatives below this cosine are ignored").range(-1.0, 1.0).def(0.9);
  d("weight", &ContrastLoss::weight, "margin: weight of the mean over the negatives").positive().def(1.0);
}

void CosineFactorization::fit_statistics(train::Dataset& training, Context&) {
  const std::int64_t first[] = {0};
  const auto samples = training.read(first);
  const auto& records = record_set_of(*samples.front(), "cosine_factorization");
  if (!records.choices)
    throw InputError(
        fmt::format("{}: cosine_factorization learns from interactions of users; give a dataset of type interactions",
                    records.source));
  choices_.fit(*records.choices);
}

void CosineFactorization::begin_evaluation(train::Dataset&, std::span<const TensorRef>) {
  constexpr std::uint64_t no_step = std::uint64_t{1} << 62;  // the same items for every validation
  choices_.draw(params_.drawn, 0, no_step);
}

template <class T>
static typename Contrast<T>::Sums sums_of(Contrast<T>& contrast, const ChoiceVectors<T>& z, const ChoiceRows& choices,
                                          std::span<const train::SamplePtr> samples) {
  return contrast.forward({z.users.data(), z.chosen.data(), z.drawn.data()}, static_cast<int>(samples.size()),
                          choices.drawn(), choices.left_out(samples));
}

void CosineFactorization::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef>,
                                   std::span<const double> term_weights, std::span<const TensorRef>,
                                   std::span<train::TermSum> terms, const train::ReadyCallback&) {
  if (samples.empty()) return;
  in_type(dtype(), [&]<class T>() {
    Contrast<T> contrast(params_.loss, static_cast<int>(params_.width));
    const auto z = choices_.vectors<T>(samples, *rows_);
    terms[0].sum += sums_of(contrast, z, choices_, samples).loss;
    terms[0].count += static_cast<double>(samples.size());
    ChoiceVectors<T> by{std::vector<T>(z.users.size()), std::vector<T>(z.chosen.size()),
                        std::vector<T>(z.drawn.size())};
    contrast.backward(term_weights[0], by.users.data(), by.chosen.data(), by.drawn.data());
    choices_.add_rows(samples, std::move(by), *rows_);
  });
  rows_->ready();
}

void CosineFactorization::evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef>,
                                   std::span<train::TermSum> metrics) {
  if (samples.empty()) return;
  in_type(dtype(), [&]<class T>() {
    Contrast<T> contrast(params_.loss, static_cast<int>(params_.width));
    const auto sums = sums_of(contrast, choices_.vectors<T>(samples, *rows_), choices_, samples);
    metrics[0].sum += sums.loss;
    metrics[1].sum += sums.wrong;
    for (auto& metric : metrics) metric.count += static_cast<double>(samples.size());
  });
}

std::vector<train::TermInfo> CosineFactorization::terms() const {
  return {
      {params_.loss.kind == ContrastLoss::Kind::softmax ? "softmax" : "contrast", "", train::TermInfo::Report::mean}};
}

std::vector<train::TermInfo> CosineFactorization::metrics() const {
  return {terms().front(), {"wrong", "", train::TermInfo::Report::mean}};
}

/// Rows normalised to length one, as doubles.
template <class T>
static std::vector<double> normalised(const std::vector<T>& rows, std::int64_t width) {
  std::vector<double> out(rows.begin(), rows.end());
  for (std::size_t r = 0; r < out.size(); r += static_cast<std::size_t>(width)) {
    double square = 0.0;
    for (std::int64_t k = 0; k < width; ++k)
      square += out[r + static_cast<std::size_t>(k)] * out[r + static_cast<std::size_t>(k)];
    for (std::int64_t k = 0; k < width && square > 0.0; ++k) out[r + static_cast<std::size_t>(k)] /= std::sqrt(square);
  }
  return out;
}

std::vector<double> CosineFactorization::user_vectors(std::span<const train::SamplePtr> samples) {
  std::vector<double> out;
  in_type(dtype(), [&]<class T>() { out = normalised(choices_.vectors<T>(samples, *rows_).users, params_.width); });
  return out;
}

std::vector<double> CosineFactorization::item_vectors(std::span<const train::SamplePtr> samples) {
  std::vector<double> out;
  in_type(dtype(), [&]<class T>() { out = normalised(choices_.vectors<T>(samples, *rows_).chosen, params_.width); });
  return out;
}

void CosineFactorization::infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef>,
                                std::span<const TensorRef> outputs) {
  if (samples.empty()) return;
  const auto users = user_vectors(samples), items = item_vectors(samples);
  const auto width = static_cast<std::size_t>(params_.width);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    double cosine = 0.0;
    for (std::size_t k = s * width; k < (s + 1) * width; ++k) cosine += users[k] * items[k];
    static_cast<double*>(outputs[0].data)[static_cast<std::int64_t>(s) * outputs[0].stride[0]] = cosine;
  }
}

std::vector<Citation> CosineFactorization::citations() const {
  std::vector<Citation> out;
  if (params_.loss.kind == ContrastLoss::Kind::softmax)
    out.push_back({"wu2024", R"(@article{wu2024,
  author = {Wu, Jiancan and Wang, Xiang and Gao, Xingyu and Chen, Jiawei and Fu, Hongcheng and Qiu, Tianyu},
  title = {On the Effectiveness of Sampled Softmax Loss for Item Recommendation},
  journal = {ACM Transactions on Information Systems}, volume = {42}, number = {4}, pages = {98}, year = {2024},
  eprint = {2201.02327}, archiveprefix = {arXiv}
})"});
  if (params_.loss.kind == ContrastLoss::Kind::margin || params_.history > 0.0)
    out.push_back({"mao2021", R"(@inproceedings{mao2021,
  author = {Mao, Kelong and Zhu, Jieming and Wang, Jinpeng and Dai, Quanyu and Dong, Zhenhua and Xiao, Xi and He, Xiuqiang},
  title = {{SimpleX}: A Simple and Strong Baseline for Collaborative Filtering},
  booktitle = {Proceedings of the 30th ACM International Conference on Information and Knowledge Management},
  year = {2021}
})"});
  return out;
}

}  // namespace cambium::relate
