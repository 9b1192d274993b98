import { Monitor, Moon, Sun } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { useKey } from '../keys/use-key';
import { chooseTheme, subscribeTheme, type ThemeChoice, themeChoice } from './theme';

const NEXT: Record<ThemeChoice, ThemeChoice> = { system: 'light', light: 'dark', dark: 'system' };
const LOOKS = {
  system: { icon: Monitor, words: 'as the system' },
  light: { icon: Sun, words: 'light' },
  dark: { icon: Moon, words: 'dark' },
};

export function ThemeSwitch() {
  const choice = useSyncExternalStore(subscribeTheme, themeChoice);
  const { icon: Icon, words } = LOOKS[choice];
  const turn = () => chooseTheme(NEXT[choice]);
  useKey('theme', turn);
  return (
    <button type="button" className="button" data-quiet onClick={turn} title={`Colours: ${words} (t)`}>
      <Icon aria-hidden className="size-4" />
      <span className="sr-only">Colours: {words}. Switch.</span>
    </button>
  );
}
