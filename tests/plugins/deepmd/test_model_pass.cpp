// Energies, forces and virials of the training graph against the inference engine, and its gradients against
// differences.
#include "tests/plugins/deepmd/training_samples.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

std::vector<RandomModel> kinds() {
  RandomModel one = small_model(), two = small_model(2), radial = small_model(3);
  two.type_one_side = false;
  two.neuron = {7, 14, 14};  // widths that fill no register, and a layer of equal width
  two.fitting = {20, 20, 40};
  radial.descriptor = DeepPotentialModel::Descriptor::se_e2_r;
  RandomModel parameters = small_hybrid(6);
  parameters.fparam = 2;
  parameters.aparam = 3;
  RandomModel species = hybrid_of_species(8);
  species.fparam = 1;
  RandomModel loose = small_attention(10);
  loose.attn_layer = 1;
  loose.type_one_side = true;
  loose.attn_dotr = loose.attn_normalize = loose.attn_smooth = false;
  RandomModel types = small_types(11), typed = small_hybrid(12);
  types.type_one_side = false;
  types.type_embedding = {2, 4, 4};
  types.tebd_resnet_dt = types.use_tebd_bias = true;
  typed.parts[1] = small_types(13);
  return {one,
          two,
          radial,
          small_angles(4),
          small_hybrid(5),
          parameters,
          small_species(7),
          species,
          small_attention(9),
          loose,
          small_types(14),
          types,
          typed};
}

/// Embeddings that attention takes are never interpolated.
std::vector<double> interpolations(const RandomModel& spec) {
  return spec.attn_layer > 0 ? std::vector{0.0} : std::vector{0.0, 1e-12};
}

/// Two different frames, one of them with more neighbours than slots.
std::vector<Configuration> frames() { return {water(2, 3), water(2, 5, 2.7)}; }

template <class T>
struct Case {
  DeepPotentialModel model;
  std::vector<Configuration> configurations = frames();
  FlatWeights<T> weights, gradients;
  std::vector<FramePtr> list;
  Batch batch;
  ModelPass<T> pass;

  explicit Case(const RandomModel& spec, double interpolation = 0.0)
      : model(uneven_model(spec)), weights(model), gradients(model), pass(model, interpolation) {
    copy_weights<T>(model, weights.refs);
    for (const auto& c : configurations) list.push_back(frame_of(c, model));
    batch.assign(list, model.ntypes());
  }
  AllWeights<T> bound() { return bind_weights<T>(model, weights.refs, gradients.refs); }
};

template <class T>
void compare_with_engine(const RandomModel& spec, double interpolation, double tolerance) {
  Case<T> c(spec, interpolation);
  c.pass.evaluate(c.batch, c.bound());
  EngineOptions options;
  options.fparam.assign(c.model.fparam.size, 0.0);
  options.aparam.assign(c.model.aparam.size, 0.0);
  auto engine = make_engine(c.model, options);
  for (int f = 0; f < 2; ++f) {
    const Configuration& x = c.configurations[f];
    engine->set_fparam(c.list[f]->fparam);
    const Evaluation expected = cambium::deepmd::evaluate(*engine, x.x, x.types, x.box, c.list[f]->aparam);
    REQUIRE(c.pass.energy(f) == Approx(expected.energy).epsilon(0.1 * tolerance));
    std::vector<double> force, virial(c.pass.virial(f).begin(), c.pass.virial(f).end());
    for (int i = 0; i < std::ssize(x.x); ++i)
      force.insert(force.end(), c.pass.force(c.batch.place(f, i)), c.pass.force(c.batch.place(f, i)) + 3);
    REQUIRE(relative_error(force, flat(expected.force)) < tolerance);
    REQUIRE(relative_error(virial, std::vector<double>(expected.virial, expected.virial + 9)) < tolerance);
  }
}

/// A function of everything that the graph gives: fixed random weights times energies, forces and virials.
struct Functional {
  ModelPass<double>::Adjoint adjoint;
  Functional(const Batch& batch, bool energy, bool force, bool virial) {
    adjoint.reset(batch);
    std::uint64_t id = 0;
    const auto next = [&] { return Random4(17, Stream::test, id++, 0).normal(0); };
    for (double& v : adjoint.energy) v = energy ? next() : 0.0;
    for (double& v : adjoint.force) v = force ? next() : 0.0;
    for (auto& w : adjoint.virial)
      for (double& v : w) v = virial ? 0.1 * next() : 0.0;
  }
  double operator()(const Batch& batch, const ModelPass<double>& pass) const {
    double sum = 0.0;
    for (int f = 0; f < batch.frames(); ++f) {
      const auto k = static_cast<std::size_t>(f);
      sum += adjoint.energy[k] * pass.energy(f);
      for (std::size_t q = 0; q < 9; ++q) sum += adjoint.virial[k][q] * pass.virial(f)[q];
    }
    for (int i = 0; i < batch.atoms(); ++i)
      for (int k = 0; k < 3; ++k) sum += adjoint.force[3 * i + k] * pass.force(i)[k];
    return sum;
  }
};

void compare_with_differences(const RandomModel& spec, double interpolation, bool energy, bool force, bool virial) {
  Case<double> c(spec, interpolation);
  const Functional functional(c.batch, energy, force, virial);
  c.pass.evaluate(c.batch, c.bound());
  c.pass.backward(c.batch, c.bound(), functional.adjoint);
  double scale = 0.0;
  for (const auto& g : c.gradients.values)
    for (double v : g) scale = std::max(scale, std::abs(v));
  REQUIRE(scale > 0.0);
  const auto value_at = [&](double& w, double x) {
    w = x;
    c.pass.evaluate(c.batch, c.bound());
    return functional(c.batch, c.pass);
  };
  for (std::size_t p = 0; p < c.weights.values.size(); ++p) {
    auto& array = c.weights.values[p];
    for (std::size_t k = 0; k < array.size(); k += 1 + array.size() / 2) {  // two of every tensor
      const double x = array[k], h = 2e-3;
      double d[3];
      for (int step = 0; step < 3; ++step)
        d[step] = value_at(array[k], x + (step + 1) * h) - value_at(array[k], x - (step + 1) * h);
      array[k] = x;
      const double difference = (45.0 * d[0] - 9.0 * d[1] + d[2]) / (60.0 * h);  // sixth order
      INFO(parameters_of(c.model)[p].name << " " << k);
      REQUIRE(std::abs(c.gradients.values[p][k] - difference) < 1e-7 * scale);
    }
  }
}

}  // namespace

TEST_CASE("the training graph gives the energies, forces and virials of the inference engine") {
  for (const RandomModel& spec : kinds()) {
    compare_with_engine<double>(spec, 0.0, 1e-11);
    compare_with_engine<double>(spec, 1e-12, 1e-11);
    compare_with_engine<float>(spec, 0.0, 2e-4);
    compare_with_engine<float>(spec, 1e-8, 2e-4);
  }
}

TEST_CASE("weight gradients of energies agree with differences") {
  for (const RandomModel& spec : kinds())
    for (double interpolation : interpolations(spec)) compare_with_differences(spec, interpolation, true, false, false);
}
TEST_CASE("weight gradients of forces agree with differences") {
  for (const RandomModel& spec : kinds())
    for (double interpolation : interpolations(spec)) compare_with_differences(spec, interpolation, false, true, false);
}
TEST_CASE("weight gradients of virials agree with differences") {
  for (const RandomModel& spec : kinds())
    for (double interpolation : interpolations(spec)) compare_with_differences(spec, interpolation, false, false, true);
}

TEST_CASE("gradients in float32 agree with those in float64") {
  for (const RandomModel& spec : kinds()) {
    Case<double> exact(spec);
    Case<float> single(spec, spec.type_one_side ? 1e-8 : 0.0);
    const Functional functional(exact.batch, true, true, true);
    exact.pass.evaluate(exact.batch, exact.bound());
    exact.pass.backward(exact.batch, exact.bound(), functional.adjoint);
    single.pass.evaluate(single.batch, single.bound());
    single.pass.backward(single.batch, single.bound(),
                         {functional.adjoint.energy, functional.adjoint.force, functional.adjoint.virial});
    for (std::size_t p = 0; p < exact.gradients.values.size(); ++p) {
      const std::vector<double> found(single.gradients.values[p].begin(), single.gradients.values[p].end());
      REQUIRE(relative_error(found, exact.gradients.values[p]) < 1e-3);
    }
  }
}

namespace {
/// Largest difference of all weights' gradients between interpolated and direct, relative to the largest gradient.
double gradient_error(const RandomModel& spec, double interpolation, double stretch) {
  Case<double> direct(spec), nodes(spec, interpolation);
  for (auto* c : {&direct, &nodes})
    for (std::size_t p = 0; p < 2; ++p)
      for (double& w : c->weights.values[p]) w *= stretch;  // a first layer of steep functions
  const Functional functional(direct.batch, true, true, true);
  for (auto* c : {&direct, &nodes}) {
    c->pass.evaluate(c->batch, c->bound());
    c->pass.backward(c->batch, c->bound(), functional.adjoint);
  }
  double worst = 0.0, scale = 0.0;
  for (std::size_t p = 0; p < direct.gradients.values.size(); ++p)
    for (std::size_t k = 0; k < direct.gradients.values[p].size(); ++k) {
      scale = std::max(scale, std::abs(direct.gradients.values[p][k]));
      worst = std::max(worst, std::abs(direct.gradients.values[p][k] - nodes.gradients.values[p][k]));
    }
  return worst / scale;
}
}  // namespace

TEST_CASE("gradients through interpolated embedding networks are those of the networks, to the tolerance") {
  for (const RandomModel& spec : kinds())
    for (double stretch : {1.0, 8.0}) {
      REQUIRE(gradient_error(spec, 1e-12, stretch) < 1e-11);
      REQUIRE(gradient_error(spec, 1e-6, stretch) < 1e-5);
    }
}
