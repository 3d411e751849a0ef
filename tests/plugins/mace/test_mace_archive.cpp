// Files that cannot be read as MACE models, and what is said of them.
#include <filesystem>
#include <functional>

#include "core/base/error.hpp"
#include "core/io/zip_file.hpp"
#include "plugins/mace/potentials/mace.hpp"
#include "tests/plugins/mace/random_mace.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::test;
using P = PickleWriter;

namespace {

std::string scratch() { return (std::filesystem::temp_directory_path() / "cambium_mace_refused.model").string(); }

/// What is said of the file that stands at scratch() now, which goes.
std::string refusal() {
  std::string text = "accepted";
  try {
    mace::MaceModel::load(scratch());
  } catch (const InputError& error) {
    text = error.what();
  }
  std::filesystem::remove(scratch());
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// A sound model after `change` of its pickle or its members.
std::string of_model(const std::function<void(PickleWriter&, std::string&)>& change,
                     const std::string& type = "DoubleStorage") {
  PickleWriter p(type), constants;
  std::string root = RandomMace(1).pickle(p);
  p.zip.add("constants/0", little(std::bit_cast<std::uint64_t>(RandomMace::activation), 8));
  p.zip.add("constants.pkl", "\x80\x02" + P::tuple({constants.number(0)}) + ".");
  change(p, root);
  p.write(scratch(), root);
  return refusal();
}
std::string with_text(const std::string& from, const std::string& to) {
  return of_model([&](PickleWriter&, std::string& root) { root = replaced(root, from, to); });
}
/// The tensor behind `key` gets another value.
std::string with_value(const std::string& key, double value) {
  return of_model([&](PickleWriter& p, std::string& root) {
    const std::string before = "ctorch\nDoubleStorage\nX";
    const auto at = root.find(before, root.find(P::text(key))) + before.size();
    const auto size = static_cast<std::size_t>(static_cast<unsigned char>(root[at]));
    p.zip.add("data/" + root.substr(at + 4, size), little(std::bit_cast<std::uint64_t>(value), 8));
  });
}
std::string of_bytes(const std::string& bytes) {
  std::ofstream(scratch(), std::ios::binary) << bytes;
  return refusal();
}
std::string of_pickle(const std::string& bytes) {
  ZipWriter zip;
  zip.add("data.pkl", bytes);
  zip.write(scratch());
  return refusal();
}

void check_says(const std::string& found, const std::string& expected) {
  INFO(found);
  CHECK(found.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("mace: a sound archive is read") {
  CHECK(of_model([](PickleWriter&, std::string&) {}) == "accepted");
}

TEST_CASE("mace: files that are no archives of PyTorch") {
  using namespace std::string_literals;
  check_says(refusal(), "cannot read the MACE model " + scratch() +
                            ": No such file or directory; check the path (relative paths start at the folder where the "
                            "program was started)");
  check_says(of_bytes("no archive at all, but text"),
             scratch() + " is no zip archive, or was cut short; a MACE model is the file that PyTorch writes");
  const std::string end = "PK\x05\x06" + little(0, 4) + little(1, 2) + little(1, 2) + little(46, 4);
  check_says(of_bytes(end + little(4000, 4) + little(0, 2)),
             scratch() + " ends before its directory of members does: the file is damaged");
  check_says(of_bytes(end + little(0, 4) + little(0, 2)), ": its directory of members is damaged");
  ZipWriter zip;
  zip.add("letter.txt", "another archive");
  zip.write(scratch());
  check_says(refusal(),
             " is a zip archive, but none of PyTorch: it has no data.pkl; a MACE model is the file that "
             "torch.jit.save or torch.save writes");
  zip.write(scratch());
  CHECK_THROWS_WITH(io::ZipFile(scratch(), {"MACE model", "PyTorch"}).read("notes"),
                    scratch() + " has no member 'notes': it is another kind of zip archive");
  zip.add("data.pkl", "\x80\x02N.");
  std::string bytes = zip.bytes();
  for (auto at = bytes.find("PK\x01\x02"); at != std::string::npos; at = bytes.find("PK\x01\x02", at + 1))
    bytes[at + 10] = 12;
  check_says(of_bytes(bytes),
             ": member 'archive/data.pkl' is compressed by method 12 of zip, of which only 'stored' and 'deflated' are "
             "read; write the file again with PyTorch");
  for (auto& byte : bytes) byte = byte == 12 ? 8 : byte;
  check_says(of_bytes(bytes), ": the compressed member 'archive/data.pkl' is damaged");
  check_says(of_bytes(replaced(zip.bytes(), "\x80\x02N.", "\x80\x02M.")),
             ": member 'archive/data.pkl' does not have its checksum: the file is damaged");
  check_says(of_pickle("\x80\x02\xff"),
             ": operation 0xff of its pickle is not known; write the file with protocol 2 to 4");
  check_says(of_pickle("\x80\x02."), ": its pickle is damaged");
  check_says(of_pickle("\x80\x02X" + little(9, 4) + "a"), ": its pickle is truncated");
  check_says(of_pickle("\x80\x02"
                       "cm\nA\n)\x81q\0}"s +
                       P::text("a") + "h\0sb."s),
             ": its modules refer to each other without end: the file is damaged");
  check_says(
      of_pickle("\x80\x02"
                "cm\nA\n)\x81."s),
      " is an archive of PyTorch, but holds no MACE model; its root is a A; torch_script runs NequIP and Allegro");
}

TEST_CASE("mace: tensors that cannot be read") {
  check_says(of_model([](PickleWriter& p, std::string&) { p.zip.add("byteorder", "big"); }),
             " was written on a big-endian machine, which is not supported");
  check_says(of_model([](PickleWriter&, std::string&) {}, "HalfStorage"),
             ": tensor 'model.atomic_numbers' has the type HalfStorage; supported are float64, float32, int64, int32 "
             "and bool");
  check_says(of_model([](PickleWriter& p, std::string&) { p.zip = ZipWriter(); }),
             "': it is another kind of zip archive");
  check_says(with_text(P::text("r_max"), P::text("range")),
             " has no 'model.r_max': it is no MACE model, or one of a version that is not known");
  check_says(
      with_text(P::text("r_max") + "ctorch._utils\n_rebuild_tensor_v2", P::text("r_max") + "ctorch._utils\n_other"),
      "a MACE model has a value of another type where a number is expected");
  check_says(with_text(P::text("bessel_weights") + "ctorch._utils\n_rebuild_tensor_v2",
                       P::text("bessel_weights") + "ctorch._utils\n_other"),
             ": 'model.radial_embedding.bessel_fn.bessel_weights' is no tensor that can be read");
  const auto two = P::tuple({P::integer(2)}), one = P::tuple({P::integer(1)});
  check_says(with_text("QJ" + little(0, 4) + two + one, "QJ" + little(0, 4) + P::tuple({P::integer(9)}) + one),
             ": the values of tensor 'model.atomic_numbers' are truncated");
  check_says(of_model([](PickleWriter&, std::string& root) {
               root = replaced(root, P::text("prefactor"), P::text("other"));
               root = replaced(root, P::text("bessel_weights"), P::text("prefactor"));
               root = replaced(root, P::text("other"), P::text("bessel_weights"));
             }),
             ": 'model.radial_embedding.bessel_fn.prefactor' has 5 elements; it must be one value");
}

TEST_CASE("mace: parts that do not fit or are not supported") {
  check_says(with_text(P::text("r_max"), P::text("joint_embedding")),
             ": the model has 'joint_embedding', which is not supported");
  check_says(
      with_text("QJ" + little(0, 4) + P::tuple({P::integer(2)}), "QJ" + little(0, 4) + P::tuple({P::integer(1)})),
      ": the model has 1 species, 2 atomic energies and 2 inputs of its embedding; models of several heads are not "
      "supported");
  check_says(with_value("atomic_numbers", 300), "are truncated");
  check_says(with_value("r_max", -1), ": cut-off -1 Å, exponent 5 and 5 radial functions do not make a radial basis");
  check_says(with_text(P::text("component"), P::text("norm")), ": spherical harmonics must be normalised by component");
  check_says(with_value("num_interactions", 0), ": the model has no interactions");
  check_says(with_text(P::irreps({{2, 0}}), P::tuple({P::integer(3)})),
             ": 'model.node_embedding.linear.irreps_in' is no list of irreducible representations");
  check_says(with_text(P::text("uvu"), P::text("uvw")),
             ": 'model.interactions.0.conv_tp' does not fit the rest of the model");
  check_says(with_text("NonLinearReadoutBlock\n", "DipoleReadoutBlock\n"),
             ": readout 'DipoleReadoutBlock' is not supported; LinearReadoutBlock and NonLinearReadoutBlock are");
  check_says(with_text(P::text("weight"), P::text("bias")), "' has a bias, which is not supported");
  check_says(
      of_model([](PickleWriter& p, std::string&) { p.zip.add("constants/0", little(0, 8)); }),
      ": the normalisation of the activation SiLU (about 1.679) is not among its constants; other activations are "
      "not supported");
  check_says(with_text("RealAgnosticInteractionBlock\n", "RealAgnosticDensityInteractionBlock\n"),
             ": interaction 'RealAgnosticDensityInteractionBlock' is not supported; RealAgnosticInteractionBlock and "
             "RealAgnosticResidualInteractionBlock are");
  check_says(
      with_text(P::text("U_matrix_1"), P::text("other")),
      ": the correlation of 'model.products.0.symmetric_contractions.contractions.0' is 0; 1 to 3 are supported");
}

TEST_CASE("mace: a species that the model does not know") {
  World world;
  RandomMace(1).write(scratch());
  mace::Mace potential({scratch()}, world.context);
  std::filesystem::remove(scratch());
  const std::vector<Species> species = {{"Cu", 63.546}};
  CHECK_THROWS_WITH(potential.bind(species),
                    "species 'Cu' is unknown to the MACE model " + scratch() + "; its species: H, O");
}
