#include "plugins/pretrain/networks/mugs_encoder.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "plugins/pretrain/networks/field_batch.hpp"

namespace cambium::pretrain {

using torch::Tensor;
using train::TermInfo;
using train::TorchBatch;

namespace {

/// The rows of `known` most similar to each row of y: (rows, at most `most`, width).
Tensor neighbours_of(const Tensor& y, const Tensor& known, std::int64_t most) {
  const std::int64_t count = std::min(most, known.size(0));
  if (count == 0) return torch::zeros({y.size(0), 1, y.size(1)}, y.options().requires_grad(false));
  const Tensor similar = unit_rows_of(y.detach()).matmul(unit_rows_of(known).t());
  const Tensor best = std::get<1>(similar.topk(count, 1));
  return known.index_select(0, best.flatten()).reshape({y.size(0), count, y.size(1)});
}

std::int64_t trunk_width(const MugsEncoder::Params& params) {
  return params.transformer ? params.transformer->width : params.channels.back();
}

constexpr double student_sharpness = 0.1, teacher_sharpness = 0.04, centre_memory = 0.9;

/// InfoNCE: -sum over rows of the log softmax of the positive among itself and all rows of the queue.
Tensor told_apart(const Tensor& x, const Tensor& partner, const Tensor& queue, double temperature) {
  const Tensor own = (x * partner).sum(1, true);
  const Tensor all = torch::cat({own, x.matmul(queue.t())}, 1) / temperature;
  return -torch::log_softmax(all, 1).select(1, 0).sum();
}

}  // namespace

struct MugsEncoder::Taught {
  Tensor instance, local, grouped;                     ///< own samples' rows
  Tensor all_y, all_instance, all_local, all_grouped;  ///< all ranks' rows
  Tensor group, all_similar;  ///< own samples' prototype probabilities; all ranks' similarities
};

/// Subtracts from the teacher's rows the mean over all views and samples of the step. The teacher drifts, so rows of
/// one age have a common direction that those in the queue lack. Without this step, a student can minimise the loss by
/// that direction for any input, the teacher follows, and all vectors collapse to one. Rows with a common direction are
/// also close to the same groups, with differences too small for the sharpness of the group assignment.
static void forget_age(std::vector<Tensor*> own, std::vector<Tensor*> all) {
  Tensor mean = torch::zeros_like(all.front()->select(0, 0));
  for (const Tensor* rows : all) mean += rows->mean(0) / static_cast<double>(all.size());
  for (auto* list : {&own, &all})
    for (Tensor* rows : *list) *rows = unit_rows_of(*rows - mean);
}

void MugsEncoder::Weights::describe(deck::Describe<Weights>& d) {
  d("instance", &Weights::instance,
    "weight of the instance term, which discriminates a view from all others; 0 omits it")
      .non_negative()
      .def(1.0);
  d("local", &Weights::local,
    "weight of the local-group term, which discriminates after attention to the nearest neighbours; 0 omits it")
      .non_negative()
      .def(1.0);
  d("group", &Weights::group,
    "weight of the group term, which assigns views of a sample to the same prototypes; 0 omits it")
      .non_negative()
      .def(1.0);
}

void MugsEncoder::Small::describe(deck::Describe<Small>& d) {
  d("views", &Small::views, "number of small views (local crops) of each sample, for the student only")
      .range(0, 20)
      .def(0);
  d("crop", &Small::crop, "cells along each axis of a small view").def({});
}

void MugsEncoder::Params::describe(deck::Describe<Params>& d) {
  d("channels", &Params::channels,
    "number of channels after each halving of the axes; the last is the width of the backbone")
      .at_most(65536)
      .def({16, 32, 64});
  d("transformer", &Params::transformer, "vision transformer: self-attention between patches, instead of convolutions")
      .example("{patch: [4, 4]}");
  d("pool", &Params::pool, "the vector: mean over all cells, or every cell with weights of its own")
      .options({{"mean", Pool::mean}, {"cells", Pool::cells}})
      .def(Pool::mean);
  d("vector", &Params::vector,
    "embedding used after training: output of the backbone, or the concatenated projections of the terms with nonzero "
    "weight")
      .options({{"trunk", Vector::trunk}, {"projections", Vector::projections}})
      .def(Vector::trunk);
  d("width", &Params::width, "output dimension of the projections").at_least(2).def(64);
  d("queue", &Params::queue,
    "queue length: number of stored rows of earlier samples, for each of both queues and the memory")
      .at_least(2)
      .def(1024);
  d("neighbours", &Params::neighbours, "number of nearest neighbours from the memory").at_least(1).def(8);
  d("prototypes", &Params::prototypes, "groups").at_least(2).def(64);
  d("momentum", &Params::momentum, "momentum coefficient of the teacher: fraction of its weights retained per step")
      .non_negative()
      .less_than(1.0)
      .def(0.99);
  d("temperature", &Params::temperature, "temperature that similarities are divided by").positive().def(0.2);
  d("augment", &Params::augment, "data augmentation: random transformations, drawn for each of two large views");
  d("small", &Params::small, "further views of a part of each field");
  d("weights", &Params::weights, "weights of the three loss terms");
  d("precision", &Params::precision, "floating-point precision of weights and arithmetic")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
  d.check([](const Params& p) -> std::string {
    if (p.channels.empty()) return "'channels' names no stage";
    if (p.augment.nothing()) return "two unchanged copies of a field teach nothing; give 'augment'";
    if (p.pool == Pool::cells && (!p.augment.crop.empty() || p.small.views > 0))
      return "pool: cells reads full fields, but 'augment.crop' and small views crop them; take pool: mean, or remove "
             "both";
    if (p.small.views > 0 && p.small.crop.empty()) return "small views have no extents; give 'small.crop'";
    const auto& w = p.weights;
    return w.instance + w.local + w.group > 0.0 ? "" : "all weights are 0; leave one term at least";
  });
}

MugsEncoder::MugsEncoder(const Params& params, Context& context)
    : TorchNetwork(params.precision), params_(params), context_(context) {}

static AugmentKeys small_changes(const MugsEncoder::Params& params) {
  AugmentKeys out = params.augment;
  out.crop = params.small.crop;
  return out;
}

void MugsEncoder::fit_statistics(train::Dataset& training, Context&) {
  scales_ = Scales::of(training);
  samples_ = training.size();
  require_fitting(params_.augment, scales_.shape);
  if (params_.small.views > 0) require_fitting(small_changes(params_), scales_.shape);
  if (!params_.transformer) return;
  for (const auto& shape : {scales_.shape, augmented_shape(params_.augment, scales_.shape)})
    require_fitting(*params_.transformer, shape);
  if (params_.small.views > 0)
    require_fitting(*params_.transformer, augmented_shape(small_changes(params_), scales_.shape));
}

std::string MugsEncoder::state() const {
  return nlohmann::json{{"scales", nlohmann::json::parse(scales_.text())}, {"samples", samples_}}.dump();
}

void MugsEncoder::restore(const std::string& state) {
  const auto in = nlohmann::json::parse(state);
  scales_ = Scales::from(in.at("scales").dump());
  in.at("samples").get_to(samples_);
}

std::shared_ptr<torch::nn::Module> MugsEncoder::build() {
  const bool mean = params_.pool == Pool::mean;
  const MugsShape shape{{scales_.shape.channels, scales_.shape.cells, scales_.shape.periodic, params_.channels,
                         mean ? 0 : trunk_width(params_), mean, params_.transformer},
                        params_.width,
                        params_.prototypes};
  student_ = std::make_shared<MugsModule>(shape);
  teacher_ = std::make_shared<MugsModule>(shape);
  teacher_->to(real());
  for (auto& weights : teacher_->parameters()) weights.set_requires_grad(false);
  instance_queue_ = std::make_unique<RowQueue>(params_.queue, params_.width, real());
  local_queue_ = std::make_unique<RowQueue>(params_.queue, params_.width, real());
  memory_ = std::make_unique<RowQueue>(params_.queue, trunk_width(params_), real());
  centre_ = torch::zeros({params_.prototypes}, torch::TensorOptions().dtype(real()));
  return student_;
}

std::int64_t MugsEncoder::width() const {
  if (params_.vector == Vector::trunk) return trunk_width(params_);
  const auto& w = params_.weights;
  return params_.width * ((w.instance > 0.0) + (w.local > 0.0) + (w.group > 0.0));
}

/// Without the memory, a field is its own neighbour: vectors must not depend on recently seen samples.
Tensor MugsEncoder::vectors(const Tensor& fields) const {
  const Tensor y = student_->trunk(fields);
  if (params_.vector == Vector::trunk) return unit_rows_of(y);
  std::vector<Tensor> parts;
  const auto& w = params_.weights;
  if (w.instance > 0.0) parts.push_back(student_->instance(y, false));
  if (w.local > 0.0) parts.push_back(student_->local(y, y.unsqueeze(1), false));
  if (w.group > 0.0) parts.push_back(student_->grouped(y));
  return unit_rows_of(torch::cat(parts, 1));
}

/// Moving average: the teacher's weights keep the fraction `momentum` and take the rest from the student's.
static void follow(const MugsModule& student, MugsModule& teacher, double momentum) {
  const torch::NoGradGuard none;
  const auto from = student.parameters(), to = teacher.parameters();
  for (std::size_t k = 0; k < to.size(); ++k) {
    auto weights = to[k];
    if (momentum == 0.0)
      weights.copy_(from[k]);
    else
      weights.mul_(momentum).add_(from[k].detach(), 1.0 - momentum);
  }
}

Tensor MugsEncoder::view(const TorchBatch& batch, int number, bool large) const {
  const AugmentKeys changes = large ? params_.augment : small_changes(params_);
  // Both views of a step have their own random numbers; further views use those of steps beyond any training.
  const FieldView how{&changes, seed_, step_ + (static_cast<std::int64_t>(number / 2) << 32)};
  return fields_of(batch, "field", number % 2, how, scales_, real());
}

MugsEncoder::Taught MugsEncoder::taught(const Tensor& fields, const std::vector<std::int64_t>& ids) {
  const torch::NoGradGuard none;
  const auto all = [&](const Tensor& rows) { return gathered_by_sample(rows, ids, "rows", context_.comm, traffic_); };
  Taught out;
  const Tensor y = teacher_->trunk(fields);
  out.instance = teacher_->instance(y, false);
  out.local = teacher_->local(y, neighbours_of(y, memory_->rows(), params_.neighbours), false);
  out.grouped = teacher_->grouped(y);
  out.all_y = all(y);
  out.all_grouped = all(out.grouped);
  out.all_instance = all(out.instance);
  out.all_local = all(out.local);
  return out;
}

/// Adds one student view, compared with the teacher's outputs for all large views but `without`.
void MugsEncoder::add(const Tensor& fields, const std::vector<Taught>& teachers, int without, double weight,
                      Pull& sum) {
  const Tensor y = student_->trunk(fields);
  const auto& w = params_.weights;
  const bool learn_prototypes = seen_ >= samples_;  // frozen in the first epoch
  const auto put = [&](Tensor& to, const Tensor& value) { to = to.defined() ? to + weight * value : weight * value; };
  Tensor instance, local, group;
  if (w.instance > 0.0) instance = student_->instance(y, true);
  if (w.local > 0.0) local = student_->local(y, neighbours_of(y, memory_->rows(), params_.neighbours), true);
  if (w.group > 0.0)
    group = torch::log_softmax(student_->compared(student_->grouped(y), learn_prototypes) / student_sharpness, 1);
  for (int t = 0; t < std::ssize(teachers); ++t) {
    if (t == without) continue;
    const auto& teacher = teachers[t];
    if (w.instance > 0.0)
      put(sum.instance, told_apart(instance, teacher.instance, instance_queue_->rows(), params_.temperature));
    if (w.local > 0.0) put(sum.local, told_apart(local, teacher.local, local_queue_->rows(), params_.temperature));
    if (w.group > 0.0) put(sum.group, -(teacher.group * group).sum());
  }
}

/// Adds the teachers' rows of all ranks to the queues; moves the centre to the mean of all.
void MugsEncoder::remember(const std::vector<Taught>& teachers, std::int64_t samples) {
  const torch::NoGradGuard none;
  Tensor mean = torch::zeros_like(centre_);
  for (const auto& teacher : teachers) {
    instance_queue_->put(teacher.all_instance);
    local_queue_->put(teacher.all_local);
    memory_->put(teacher.all_y);
    mean += teacher.all_similar.mean(0) / static_cast<double>(teachers.size());
  }
  centre_ = seen_ == 0 ? mean : centre_memory * centre_ + (1.0 - centre_memory) * mean;
  seen_ += samples;
}

std::vector<train::TorchNetwork::Term> MugsEncoder::loss(const TorchBatch& batch) {
  if (!waiting_.empty()) take(train::KeptNumbers(std::move(waiting_)));
  follow(*student_, *teacher_, seen_ == 0 ? 0.0 : params_.momentum);  // a copy in the first step
  std::vector<Tensor> large;
  std::vector<Taught> teachers;
  for (int k = 0; k < 2; ++k) {
    large.push_back(view(batch, k, true));
    teachers.push_back(taught(large.back(), batch.ids()));
  }
  auto &a = teachers[0], &b = teachers[1];
  forget_age({&a.instance, &b.instance}, {&a.all_instance, &b.all_instance});
  forget_age({&a.local, &b.local}, {&a.all_local, &b.all_local});
  forget_age({&a.grouped, &b.grouped}, {&a.all_grouped, &b.all_grouped});
  for (auto* one : {&a, &b}) {
    const torch::NoGradGuard none;
    one->all_similar = teacher_->compared(one->all_grouped, false);
    one->group = torch::softmax((teacher_->compared(one->grouped, false) - centre_) / teacher_sharpness, 1);
  }
  Pull sum;
  const double share = params_.small.views > 0 ? 0.5 : 1.0;
  for (int k = 0; k < 2; ++k) add(large[k], teachers, k, 0.5 * share, sum);
  const auto pairs = static_cast<double>(2 * params_.small.views);
  for (int k = 0; k < params_.small.views; ++k) add(view(batch, 2 + k, false), teachers, -1, share / pairs, sum);
  remember(teachers, teachers.front().all_y.size(0));
  const auto n = static_cast<double>(batch.size());
  const auto term = [&](const Tensor& value) {
    return Term{value.defined() ? value : torch::zeros({}, torch::TensorOptions().dtype(real())), n};
  };
  return {term(sum.instance), term(sum.local), term(sum.group)};
}

std::vector<double> MugsEncoder::term_weights(std::int64_t, double) const {
  return {params_.weights.instance, params_.weights.local, params_.weights.group};
}

std::vector<TermInfo> MugsEncoder::terms() const {
  return {{"instance", "", TermInfo::Report::mean},
          {"local", "", TermInfo::Report::mean},
          {"group", "", TermInfo::Report::mean}};
}

std::vector<std::string> MugsEncoder::report() const {
  auto out = TorchNetwork::report();
  if (student_ && !student_->slower().empty()) out.push_back(student_->slower());
  return out;
}

std::vector<TermInfo> MugsEncoder::metrics() const { return {{"unlike", "", TermInfo::Report::mean}}; }

/// 1 - cosine similarity of two views of a field.
std::vector<train::TorchNetwork::Term> MugsEncoder::measure(const TorchBatch& batch) {
  const Tensor a = vectors(view(batch, 0, true)), b = vectors(view(batch, 1, true));
  const auto n = static_cast<double>(batch.size());
  return {{n - (a * b).sum(), n}};
}

std::vector<train::FieldInfo> MugsEncoder::outputs() const { return {{"vector", "", {width()}, DType::f64}}; }

std::vector<Tensor> MugsEncoder::predict(const TorchBatch& batch) {
  return {vectors(fields_of(batch, "field", 0, {}, scales_, real()))};
}

train::KeptNumbers MugsEncoder::kept() const {
  if (!waiting_.empty()) return waiting_;
  std::vector<double> teacher;
  for (const auto& weights : teacher_->parameters()) {
    const Tensor all = weights.to(torch::kFloat64).contiguous();
    teacher.insert(teacher.end(), all.data_ptr<double>(), all.data_ptr<double>() + all.numel());
  }
  const Tensor centre = centre_.to(torch::kFloat64).contiguous();
  return {{"teacher", teacher},
          {"instance_queue", instance_queue_->kept()},
          {"local_queue", local_queue_->kept()},
          {"memory", memory_->kept()},
          {"centre", {centre.data_ptr<double>(), centre.data_ptr<double>() + centre.numel()}},
          {"seen", {static_cast<double>(seen_)}}};
}

void MugsEncoder::take(const train::KeptNumbers& kept) {
  if (!kept.contains("teacher") || !kept.contains("seen"))
    throw InputError("the checkpoint holds no teacher; resume with the network that wrote it");
  if (!teacher_) {
    waiting_ = kept;
    return;
  }
  const torch::NoGradGuard none;
  const auto& numbers = kept.at("teacher");
  std::ptrdiff_t from = 0;
  for (auto weights : teacher_->parameters()) {
    if (from + weights.numel() > std::ssize(numbers))
      throw InputError("the checkpoint's teacher has another size; resume with the same channels and width");
    const std::vector<double> own(numbers.begin() + from, numbers.begin() + from + weights.numel());
    weights.copy_(torch::tensor(own, torch::kFloat64).reshape(weights.sizes()));
    from += weights.numel();
  }
  instance_queue_->take(kept.at("instance_queue"));
  local_queue_->take(kept.at("local_queue"));
  memory_->take(kept.at("memory"));
  centre_ = torch::tensor(kept.at("centre"), torch::kFloat64).to(real());
  seen_ = static_cast<std::int64_t>(kept.at("seen").at(0));
}

std::vector<Citation> MugsEncoder::citations() const {
  std::vector<Citation> out{{"zhou2022", R"(@article{zhou2022,
  author = {Zhou, Pan and Zhou, Yichen and Si, Chenyang and Yu, Weihao and Ng, Teck Khim and Yan, Shuicheng},
  title = {{Mugs}: A Multi-Granular Self-Supervised Learning Framework},
  journal = {arXiv:2203.14415}, year = {2022}
})"}};
  if (params_.transformer)
    for (auto& citation : TransformerKeys::citations()) out.push_back(std::move(citation));
  return out;
}

}  // namespace cambium::pretrain
