import { join } from 'node:path';
import ts from 'typescript';
import { openCache } from './cache.ts';
import { hash } from './hash.ts';
import type { SourceTree } from './source-tree.ts';

type TypeCheck = (file: string, text: string) => boolean;

/**
 * Whether one of the files still compiles when its text is another one; what it exports is not followed into other files. What
 * was found out once is remembered.
 */
export function openTypeCheck({ root, textOf }: SourceTree, files: string[]): TypeCheck {
  const cache = openCache<boolean>(root, 'compiles');
  const before = hash(files.map((file) => hash(textOf(file))).join());
  const compiles = startTypeCheck(root, files);
  return (file, text) => {
    const key = hash(`${before}\n${file}\n${text}`);
    const known = cache.get(key) ?? compiles(file, text);
    cache.set(key, known);
    return known;
  };
}

function startTypeCheck(root: string, files: string[]): TypeCheck {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile) as { config: unknown };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const changed = { file: '', text: '', version: 0 };
  const isChanged = (path: string) => path === changed.file;
  const service = ts.createLanguageService({
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    ...(ts.sys.realpath ? { realpath: ts.sys.realpath } : {}),
    getScriptFileNames: () => files.map((file) => join(root, file)),
    getScriptVersion: (path) => (isChanged(path) ? String(changed.version) : '0'),
    getScriptSnapshot: (path) => {
      const text = isChanged(path) ? changed.text : ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });
  return (file, text) => {
    Object.assign(changed, { file: join(root, file), text, version: changed.version + 1 });
    return service.getSyntacticDiagnostics(changed.file).length + service.getSemanticDiagnostics(changed.file).length === 0;
  };
}
