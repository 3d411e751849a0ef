#pragma once
#include "core/base/pack.hpp"

// Small kernels are worth inlining everywhere; large ones are compiled once and called.
#define KINETIC_SMALL CAMBIUM_FN
#if defined(CAMBIUM_DEVICE_COMPILER)
#define KINETIC_LARGE __attribute__((host)) __attribute__((device))
#else
#define KINETIC_LARGE __attribute__((noinline))
#endif

// Constant tables of a class, read by functions: device code of nvcc knows no static array of a class, so there each
// function holds its table.
#if defined(CAMBIUM_DEVICE_COMPILER)
#define KINETIC_ROW(type, name, ...)             \
  CAMBIUM_FN static constexpr type name(int i) { \
    constexpr type all[] = __VA_ARGS__;          \
    return all[i];                               \
  }
#define KINETIC_TABLE(type, name, columns, ...)         \
  CAMBIUM_FN static constexpr type name(int i, int j) { \
    constexpr type all[][columns] = __VA_ARGS__;        \
    return all[i][j];                                   \
  }
#else
#define KINETIC_ROW(type, name, ...)                \
  static constexpr type all_##name[] = __VA_ARGS__; \
  CAMBIUM_FN static constexpr type name(int i) { return all_##name[i]; }
#define KINETIC_TABLE(type, name, columns, ...)              \
  static constexpr type all_##name[][columns] = __VA_ARGS__; \
  CAMBIUM_FN static constexpr type name(int i, int j) { return all_##name[i][j]; }
#endif
