#pragma once
// Properties on which a plugin loaded at run time and the program must agree, recorded by the compiler of either side
// from the headers that it used.
#include <mpi.h>

#include <cstdint>

#include "core/base/pack.hpp"
#include "core/base/version.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

class Registry;

/// Begins every ABI tag; the loader finds it in a library before running anything of it.
#define CAMBIUM_ABI_MARKER "cambium-abi: "

/// Text of the form "cambium-abi: Cambium=0.1.0; compiler=GNU 12; ..." in the constants of a library.
struct AbiTag {
  char text[480] = {};
  int size = 0;

  consteval AbiTag& operator<<(const char* word) {
    for (; *word != '\0'; ++word) text[size++] = *word;
    return *this;
  }
  consteval AbiTag& operator<<(int number) {
    if (number >= 10) *this << number / 10;
    text[size++] = static_cast<char>('0' + number % 10);
    return *this;
  }
};

consteval void add_compiler(AbiTag& tag) {
  tag << "; compiler=";
#if defined(__clang__)
  tag << "Clang " << __clang_major__;
#elif defined(__GNUC__)
  tag << "GNU " << __GNUC__;
#else
  tag << "other";
#endif
  tag << "; C++ ABI=";
#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
  tag << "libstdc++ cxx11";
#elif defined(__GLIBCXX__)
  tag << "libstdc++ cxx98";
#elif defined(_LIBCPP_VERSION)
  tag << "libc++";
#else
  tag << "other";
#endif
}

consteval void add_instruction_set(AbiTag& tag) {
  tag << "; instruction set=";
#if defined(__AVX512F__)
  tag << "AVX-512";
#elif defined(__AVX2__)
  tag << "AVX2";
#elif defined(__AVX__)
  tag << "AVX";
#elif defined(__SSE2__)
  tag << "SSE2";
#elif defined(__ARM_NEON)
  tag << "NEON";
#else
  tag << "baseline";
#endif
  tag << ", packs of " << native_width<double>;
}

consteval void add_mpi(AbiTag& tag) {
  tag << "; MPI=";
#if defined(OMPI_MAJOR_VERSION)
  tag << "Open MPI " << OMPI_MAJOR_VERSION << "." << OMPI_MINOR_VERSION << "." << OMPI_RELEASE_VERSION;
#elif defined(MPICH_VERSION)
  tag << "MPICH " << MPICH_VERSION;
#else
  tag << "standard " << MPI_VERSION << "." << MPI_SUBVERSION;
#endif
}

consteval void add_kokkos(AbiTag& tag) {
  tag << "; Kokkos=" << KOKKOS_VERSION / 10000 << "." << KOKKOS_VERSION / 100 % 100 << "." << KOKKOS_VERSION % 100;
#ifdef KOKKOS_ENABLE_SERIAL
  tag << " Serial";
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  tag << " OpenMP";
#endif
#ifdef KOKKOS_ENABLE_THREADS
  tag << " Threads";
#endif
#ifdef KOKKOS_ENABLE_HPX
  tag << " HPX";
#endif
#ifdef KOKKOS_ENABLE_CUDA
  tag << " Cuda";
#endif
#ifdef KOKKOS_ENABLE_HIP
  tag << " HIP";
#endif
#ifdef KOKKOS_ENABLE_SYCL
  tag << " SYCL";
#endif
}

consteval AbiTag make_abi_tag() {
  AbiTag tag;
  tag << CAMBIUM_ABI_MARKER "Cambium=" << header_version;
  add_compiler(tag);
  add_instruction_set(tag);
  add_mpi(tag);
  add_kokkos(tag);
  tag << "; Torch=" << CAMBIUM_TORCH_VERSION;
  return tag;
}

/// For the translation unit that includes this.
inline constexpr AbiTag abi_tag = make_abi_tag();

/// The one symbol that a plugin exports, `cambium_plugin`: plain data in C linkage, readable before any of its code
/// runs.
struct PluginDescriptor {
  std::uint32_t struct_size;  ///< sizeof(PluginDescriptor) on the plugin's side
  const char* abi;            ///< its ABI tag
  const char* name;           ///< under which its types are registered
  const char* version;
  const char* author;
  const char* citation;               ///< how to cite it; may be empty
  void (*register_types)(Registry&);  ///< adds its types
};

}  // namespace cambium

/// Makes a library a plugin; once, in its register.cpp, at the top level of the file:
///   CAMBIUM_PLUGIN("morse", "1.0", "A. Author", "how to cite it", cambium::morse::register_types)
/// In Cambium's own tree, where plugins are part of the program, it expands to nothing.
#ifdef CAMBIUM_IN_TREE_PLUGIN
#define CAMBIUM_PLUGIN(name, version, author, citation, function)
#else
#define CAMBIUM_PLUGIN(name, version, author, citation, function)                                           \
  extern "C" {                                                                                              \
  extern __attribute__((visibility("default"))) const cambium::PluginDescriptor cambium_plugin;             \
  const cambium::PluginDescriptor cambium_plugin = {                                                        \
      sizeof(cambium::PluginDescriptor), cambium::abi_tag.text, name, version, author, citation, function}; \
  }
#endif
