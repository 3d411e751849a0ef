#include "core/train/reduce/reducer.hpp"

#include <fmt/format.h>

#include <bit>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/train/reduce/codec_reducer.hpp"
#include "core/train/reduce/lossy_reducer.hpp"

namespace cambium::train {

using Codec = lowp::WireCodec;

void LossyMessages::describe(deck::Describe<LossyMessages>& d) {
  d("relative", &LossyMessages::relative,
    "largest error of a value in one message, relative to the range (maximum minus minimum) of its tensor")
      .positive();
  d("absolute", &LossyMessages::absolute, "largest absolute error of a value in one message").positive();
  d.check([](const LossyMessages& p) -> std::string {
    return p.relative.has_value() == p.absolute.has_value()
               ? "give one of 'relative' and 'absolute', for example lossy: {relative: 1e-3}"
               : "";
  });
}

lowp::LossyBound LossyMessages::bound() const {
  using Kind = lowp::LossyBound::Kind;
  return relative ? lowp::LossyBound{Kind::relative, *relative} : lowp::LossyBound{Kind::absolute, *absolute};
}

void ReduceParams::describe(deck::Describe<ReduceParams>& d) {
  d("mode", &ReduceParams::mode,
    "reduction mode: fast; or ordered, a deterministic reduction with bitwise identical weights on any number of ranks")
      .options({{"fast", Mode::fast}, {"ordered", Mode::ordered}})
      .def(Mode::fast);
  d("micro_batches", &ReduceParams::slices,
    "number of micro-batches of a global batch in ordered mode: a power of two, at least the number of ranks")
      .formerly("slices")
      .at_least(1)
      .def(8);
  d("overlap", &ReduceParams::overlap, "overlap of gradient communication with the backward pass (fast mode)")
      .def(true);
  d("shared_memory", &ReduceParams::shared_memory,
    "shared-memory reduction: up to 8 ranks of one node read each other's gradients directly, without messages (fast "
    "mode)")
      .def(true);
  d("bucket_size", &ReduceParams::group, "size of a message").formerly("group").unit("B").positive().def(4e6);
  d("codec", &ReduceParams::codec,
    "codec of gradients sent between ranks: bf16; int8, 8 bits in groups of 128 with a scale each; int4, 4 bits after "
    "a randomised Hadamard transform; mxfp8_e4m3, mxfp8_e5m2 and mxfp4, floating-point numbers in blocks of 32 with a "
    "power of two each (OCP microscaling), rounded to the nearest; none sends the model's precision")
      .options({{"none", Codec::none},
                {"bf16", Codec::bf16},
                {"int8", Codec::int8},
                {"int4", Codec::int4},
                {"mxfp8_e4m3", Codec::mxfp8_e4m3},
                {"mxfp8_e5m2", Codec::mxfp8_e5m2},
                {"mxfp4", Codec::mxfp4}})
      .def(Codec::none);
  d("lossy", &ReduceParams::lossy,
    "compression of gradients within an error bound, in messages of variable length, instead of codec (fast mode)");
  d.check([](const ReduceParams& p) -> std::string {
    if (p.lossy && p.codec != Codec::none) return "give one of: codec (a fixed number of bits), lossy (an error bound)";
    if (p.lossy && p.mode == Mode::ordered)
      return "lossy changes the sums of each number of ranks in another way, and mode 'ordered' guarantees the same "
             "bits on all; remove one of them";
    if (p.codec != Codec::none && p.mode == Mode::ordered)
      return "codec rounds the sums of each number of ranks in another way, and mode 'ordered' guarantees the same "
             "bits on all; remove one of them";
    if (std::has_single_bit(static_cast<unsigned>(p.slices))) return {};
    return fmt::format("micro_batches is {}, but must be a power of two; {} is the next", p.slices,
                       std::bit_ceil(static_cast<unsigned>(p.slices)));
  });
}

void Communication::sum_small(std::span<double> values, const Comm& comm) {
  if (comm.size() == 1) return;
  const double start = wall_seconds();
  comm.sum(values);
  exposed_ += wall_seconds() - start;
  traffic_.count("allreduce", "terms", static_cast<std::int64_t>(values.size_bytes()));
}

void Reducer::begin(FlatBuffer& gradients, int slices) {
  gradients_ = &gradients;
  slices_ = slices;
  slice_ = -1;
}

void require_ranks(const ReduceParams& params, int ranks) {
  if (params.mode != ReduceParams::Mode::ordered) return;
  if (params.slices < ranks)
    throw InputError(fmt::format(
        "reduce.micro_batches is {}, but {} ranks run and each needs one; set reduce.micro_batches to {} or more "
        "(this changes the order of sums, so the weights' last bits)",
        params.slices, ranks, std::bit_ceil(static_cast<unsigned>(ranks))));
}

FlatLayout layout_of(const ReduceParams& params, std::vector<ParameterInfo> tensors, DType dtype) {
  const auto group = std::max<std::int64_t>(1, static_cast<std::int64_t>(params.group) / size_of(dtype));
  if (!lowp::shares_scales(params.codec)) return FlatLayout(std::move(tensors), group);
  return FlatLayout(std::move(tensors), group, lowp::wire_piece, lowp::wire_piece);
}

std::unique_ptr<Reducer> make_reducer(const ReduceParams& params, const Mesh& mesh, const FlatLayout& layout,
                                      DType dtype) {
  require_ranks(params, mesh.world().size());
  if (params.mode == ReduceParams::Mode::ordered && !std::has_single_bit(static_cast<unsigned>(mesh.world().size())))
    return std::make_unique<TreeReducer>(mesh, layout, dtype, params.slices);
  if (params.mode == ReduceParams::Mode::ordered) return std::make_unique<OrderedReducer>(mesh, layout, dtype);
  if (params.codec != Codec::none) return std::make_unique<CodecReducer>(mesh, layout, params.codec);
  if (params.lossy) return std::make_unique<LossyReducer>(mesh, layout, params.lossy->bound());
  const int ranks = mesh.world().size();
  if (params.shared_memory && ranks > 1 && ranks <= ShareExchange::most_ranks)
    if (auto shared = SharedSum::make(mesh.world(), layout, dtype))
      return std::make_unique<SharedReducer>(mesh, layout, params.overlap, std::move(shared));
  return std::make_unique<FastReducer>(mesh, layout, params.overlap);
}

}  // namespace cambium::train
