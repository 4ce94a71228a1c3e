# SPDX-License-Identifier: GPL-3.0-or-later

# sf_check_contraction(kind flag...): compile cmake/contraction.c for x86-64-v3 with these flags
# and look at the assembly. kind FUSED: fused instructions must be there; kind PLAIN: none may be.
function(sf_check_contraction kind)
    set(source "${CMAKE_CURRENT_SOURCE_DIR}/cmake/contraction.c")
    execute_process(
        COMMAND "${CMAKE_C_COMPILER}" -std=c17 ${ARGN} -O3 -march=x86-64-v3 -S -o - "${source}"
        RESULT_VARIABLE rc OUTPUT_VARIABLE assembly ERROR_VARIABLE errors)
    if(NOT rc EQUAL 0)
        message(FATAL_ERROR "${CMAKE_C_COMPILER} refuses the flags '${ARGN}' of kernel units:\n${errors}")
    endif()
    string(REGEX MATCHALL "vfn?m(add|sub)[a-z0-9]+" fused "${assembly}")
    list(LENGTH fused count)
    string(JOIN " " flags ${ARGN})
    if(kind STREQUAL "FUSED" AND count EQUAL 0)
        message(FATAL_ERROR "no fused multiply-add comes out of '${flags}': fast kernels would be slow")
    elseif(kind STREQUAL "PLAIN" AND count GREATER 0)
        message(FATAL_ERROR "${count} fused multiply-adds come out of '${flags}': "
                "strict kernels would round otherwise than written")
    endif()
    message(STATUS "Contraction with ${flags}: ${count} fused instructions")
endfunction()
